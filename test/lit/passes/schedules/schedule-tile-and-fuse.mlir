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

// In channels_last all channels of pixels in a row.
// CHECK-LABEL: func.func private @conv(
// CHECK: scf.forall (%{{.*}}) in (32)
// CHECK: tensor<1x1x32x8xf32>
// CHECK: tensor.parallel_insert_slice

// What is read across its rows goes by squares.
// CHECK-LABEL: func.func private @relayout(
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) = (0, 0, 0) to (32, 32, 32) step (1, 16, 16)
// CHECK: tensor.parallel_insert_slice

// OPTION: error: schedule-tile-and-fuse: option 'rows' takes a whole number, not 'many'
// LEVEL: error: schedule-tile-and-fuse takes IR of level tensor, but this is kernels

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<8x16xf32> {ai.name = "x"}, %w: tensor<16x96xf32> {ai.name = "w"}, %s: tensor<40x500xf32> {ai.name = "s"}, %i: tensor<1x32x32x4xf32> {ai.name = "i"}, %v: tensor<8x4x1x1xf32> {ai.name = "v"}, %f: tensor<1x32x32x32xf32> {ai.name = "f"}) -> (tensor<8x96xf32> {ai.name = "y"}, tensor<40x500xf32> {ai.name = "p"}, tensor<1x32x32x8xf32> {ai.name = "c"}, tensor<1x32x32x32xf32> {ai.name = "r"}) {
    %0 = call @matmul_relu(%x, %w) : (tensor<8x16xf32>, tensor<16x96xf32>) -> tensor<8x96xf32>
    %1 = call @softmax(%s) : (tensor<40x500xf32>) -> tensor<40x500xf32>
    %2 = call @conv(%i, %v) : (tensor<1x32x32x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x32x32x8xf32>
    %3 = call @relayout(%f) : (tensor<1x32x32x32xf32>) -> tensor<1x32x32x32xf32>
    return %0, %1, %2, %3 : tensor<8x96xf32>, tensor<40x500xf32>, tensor<1x32x32x8xf32>, tensor<1x32x32x32xf32>
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
  func.func private @conv(%x: tensor<1x32x32x4xf32>, %w: tensor<8x4x1x1xf32>) -> tensor<1x32x32x8xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x32x32x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x32x32x8xf32>
    return %0 : tensor<1x32x32x8xf32>
  }
  func.func private @relayout(%x: tensor<1x32x32x32xf32>) -> tensor<1x32x32x32xf32> attributes {ai.kernel, ai.ops = ["ai.relayout"]} {
    %0 = "ai.relayout"(%x) {to = "channels_last"} : (tensor<1x32x32x32xf32>) -> tensor<1x32x32x32xf32>
    return %0 : tensor<1x32x32x32xf32>
  }
}
