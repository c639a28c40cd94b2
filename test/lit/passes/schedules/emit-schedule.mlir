// What our schedule does to each kernel, as a transform module: stock mlir-opt makes the same of the same IR.
// RUN: rm -rf %t && mkdir -p %t/ours
// RUN: aiopt --emit-irdl ai -o %t/ai.irdl
// RUN: aiopt %s -p convert-ai-to-linalg -o %t/tensor.mlir
// RUN: aiopt %t/tensor.mlir --emit-schedule='schedule-tile-and-fuse{rows=4 columns=32}' -o %t/schedule.mlir
// RUN: filecheck %s --input-file %t/schedule.mlir
// RUN: mlir-opt --irdl-file=%t/ai.irdl %t/tensor.mlir --transform-preload-library=transform-library-paths=%t/schedule.mlir --transform-interpreter -o %t/stock.mlir
// RUN: aiopt %t/tensor.mlir -p 'schedule-tile-and-fuse{rows=4 columns=32}' -o %t/ours/tensor.mlir
// RUN: diff %t/ours/tensor.mlir %t/stock.mlir
// RUN: filecheck %s --input-file %t/stock.mlir --check-prefix=TILED

// CHECK: module attributes {transform.with_named_sequence}
// CHECK: transform.named_sequence @__transform_main(
// CHECK: transform.structured.match ops{["func.func"]} attributes {sym_name = "matmul_relu"}
// CHECK: transform.include @matmul_relu
// CHECK: transform.include @two_results
// CHECK: transform.named_sequence @matmul_relu(
// CHECK: transform.structured.fuse %{{.*}} tile_sizes [4, 32]
// CHECK: transform.named_sequence @two_results(
// CHECK: transform.split_handle

// TILED-LABEL: func.func private @matmul_relu(
// TILED: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (8, 96) step (4, 32)
// TILED-LABEL: func.func private @two_results(
// TILED: scf.forall

// RUN: not aiopt %s --emit-schedule=schedule-tile-and-fuse 2>&1 | filecheck %s --check-prefix=LEVEL
// RUN: not aiopt %t/tensor.mlir --emit-schedule=canonicalize 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not aiopt %t/tensor.mlir --emit-schedule='schedule-tile-and-fuse{lines=4}' 2>&1 | filecheck %s --check-prefix=OPTION
// LEVEL: {{^}}error: schedule-tile-and-fuse takes IR of level tensor, but this is kernels
// NONE: {{^}}error: 'canonicalize' is not one schedule (there is: schedule-split-rest, schedule-tile-and-fuse)
// OPTION: {{^}}error: schedule-tile-and-fuse has no option 'lines'
module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<8x16xf32> {ai.name = "x"}, %w: tensor<16x96xf32> {ai.name = "w"}) -> (tensor<8x96xf32> {ai.name = "y"}, tensor<8x16xf32> {ai.name = "p"}, tensor<8x16xf32> {ai.name = "q"}) {
    %k = arith.constant dense<1.5> : tensor<8x16xf32>
    %0 = call @matmul_relu(%x, %w) : (tensor<8x16xf32>, tensor<16x96xf32>) -> tensor<8x96xf32>
    %1:2 = call @two_results(%x, %k) : (tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
    return %0, %1#0, %1#1 : tensor<8x96xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }
  func.func private @matmul_relu(%x: tensor<8x16xf32>, %w: tensor<16x96xf32>) -> tensor<8x96xf32> attributes {ai.kernel, ai.ops = ["ai.matmul", "ai.relu"]} {
    %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<8x16xf32>, tensor<16x96xf32>) -> tensor<8x96xf32>
    %1 = "ai.relu"(%0) : (tensor<8x96xf32>) -> tensor<8x96xf32>
    return %1 : tensor<8x96xf32>
  }
  func.func private @two_results(%x: tensor<8x16xf32>, %k: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) attributes {ai.kernel, ai.ops = ["ai.add", "ai.exp"]} {
    %0 = "ai.add"(%x, %k) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = "ai.exp"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
  }
}
