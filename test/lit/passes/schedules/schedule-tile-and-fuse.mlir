// RUN: aiopt -p 'convert-ai-to-linalg,schedule-tile-and-fuse{rows=4 columns=32},canonicalize' %s | filecheck %s
// RUN: not aiopt -p 'schedule-tile-and-fuse{rows=many}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not aiopt -p 'schedule-tile-and-fuse' %s 2>&1 | filecheck %s --check-prefix=LEVEL

// The producer is computed inside the loop over tiles of the result; tiles divide their dimension.
// CHECK-LABEL: func.func private @matmul_relu(
// CHECK-NOT: linalg.generic
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (8, 96) step (4, 32)
// CHECK: linalg.fill {{.*}}tensor<4x32xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: arith.maximumf
// CHECK: tensor.parallel_insert_slice

// A row that softmax folds stays whole.
// CHECK-LABEL: func.func private @softmax(
// CHECK: scf.forall (%{{.*}}) in (40)
// CHECK: tensor<1x500xf32>
// CHECK: tensor.parallel_insert_slice

// OPTION: error: schedule-tile-and-fuse: option 'rows' takes a whole number, not 'many'
// LEVEL: error: schedule-tile-and-fuse takes IR of level tensor, but this is kernels

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<8x16xf32> {ai.name = "x"}, %w: tensor<16x96xf32> {ai.name = "w"}, %s: tensor<40x500xf32> {ai.name = "s"}) -> (tensor<8x96xf32> {ai.name = "y"}, tensor<40x500xf32> {ai.name = "p"}) {
    %0 = call @matmul_relu(%x, %w) : (tensor<8x16xf32>, tensor<16x96xf32>) -> tensor<8x96xf32>
    %1 = call @softmax(%s) : (tensor<40x500xf32>) -> tensor<40x500xf32>
    return %0, %1 : tensor<8x96xf32>, tensor<40x500xf32>
  }
  func.func private @matmul_relu(%x: tensor<8x16xf32>, %w: tensor<16x96xf32>) -> tensor<8x96xf32> attributes {ai.kernel, ai.ops = ["ai.matmul", "ai.relu"]} {
    %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<8x16xf32>, tensor<16x96xf32>) -> tensor<8x96xf32>
    %1 = "ai.relu"(%0) : (tensor<8x96xf32>) -> tensor<8x96xf32>
    return %1 : tensor<8x96xf32>
  }
  func.func private @softmax(%x: tensor<40x500xf32>) -> tensor<40x500xf32> attributes {ai.kernel, ai.ops = ["ai.softmax"]} {
    %0 = "ai.softmax"(%x) {axis = 1 : i64} : (tensor<40x500xf32>) -> tensor<40x500xf32>
    return %0 : tensor<40x500xf32>
  }
}
