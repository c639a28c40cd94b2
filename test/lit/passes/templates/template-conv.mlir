// RUN: aiopt -p 'convert-ai-to-linalg,canonicalize,cse' %s | filecheck %s
// RUN: sed -e 's/order = 0/order = 1/' %s | aiopt -p 'convert-ai-to-linalg,canonicalize,cse' | filecheck %s --check-prefix=ROWS
// RUN: sed -e 's/group = 1/group = 2/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=GROUP

// 3x3 over rows of 8 pixels with a border of one, tiles of 3 + 3 + 2. A task is a row of a block of filters.
// CHECK-LABEL: func.func private @conv(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (2, 5) {
// Rows of the kernel that lie on the border are left out by the bounds of the loop.
// CHECK: %[[FIRST:.*]] = arith.maxsi %{{.*}}, %c0 : index
// CHECK: %[[LAST:.*]] = arith.minsi %{{.*}}, %c3 : index
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]] step %c1
// The first tile: its first pixel does not see the first tap of a row. The other taps follow in one loop, 2 x 4 channels.
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>) {
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
// The one in the middle: 3 x 4.
// CHECK: scf.for %{{.*}} = %c0 to %c12 step %c1 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
// The last one, two pixels: all taps but the last, then the last for the first pixel.
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>) {
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args({{.*}}) -> (vector<8xf32>) {
// CHECK-NOT: linalg

// ROWS: scf.forall (%{{.*}}, %{{.*}}) in (5, 2) {

// GROUP: error: {{.*}}ai.conv

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<1x5x8x4xf32> {ai.name = "x"}, %w: tensor<2x3x3x4x8xf32> {ai.name = "w"}, %b: tensor<16xf32> {ai.name = "b"}) -> (tensor<1x5x8x16xf32> {ai.name = "y"}) {
    %0 = call @conv(%x, %w, %b) : (tensor<1x5x8x4xf32>, tensor<2x3x3x4x8xf32>, tensor<16xf32>) -> tensor<1x5x8x16xf32>
    return %0 : tensor<1x5x8x16xf32>
  }
  func.func private @conv(%x: tensor<1x5x8x4xf32>, %w: tensor<2x3x3x4x8xf32>, %b: tensor<16xf32>) -> tensor<1x5x8x16xf32> attributes {ai.kernel, ai.ops = ["ai.conv"], ai.route = "template", ai.template = {ahead = 0 : i64, dot = 0 : i64, fma = 1 : i64, lanes = 8 : i64, mr = 3 : i64, name = "conv", nr = 8 : i64, order = 0 : i64, rows = 1 : i64}} {
    %0 = "ai.conv"(%x, %w, %b) {acc = f32, dilations = array<i64: 1, 1>, filters = 16 : i64, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 1>, pack = 8 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x5x8x4xf32>, tensor<2x3x3x4x8xf32>, tensor<16xf32>) -> tensor<1x5x8x16xf32>
    return %0 : tensor<1x5x8x16xf32>
  }
}
