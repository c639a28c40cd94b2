// RUN: aiopt -p 'convert-ai-to-linalg,canonicalize,cse' %s | filecheck %s
// RUN: sed -e 's/fma = 1/fma = 0/' %s | aiopt -p 'convert-ai-to-linalg,canonicalize,cse' | filecheck %s --check-prefix=TWO

// A task is a row of all channels: two blocks of 8, then the last 3 of 19. Two windows share pixels, which are loaded once.
// CHECK-LABEL: func.func private @depthwise(
// CHECK: scf.forall (%{{.*}}) in (4) {
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>) {
// CHECK-COUNT-7: vector.load
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK-NOT: linalg

// TWO-NOT: vector.fma
// TWO: arith.mulf
// TWO: arith.addf

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<1x6x4x19xf32> {ai.name = "x"}, %w: tensor<3x3x3x1x8xf32> {ai.name = "w"}) -> (tensor<1x4x2x19xf32> {ai.name = "y"}) {
    %0 = call @depthwise(%x, %w) : (tensor<1x6x4x19xf32>, tensor<3x3x3x1x8xf32>) -> tensor<1x4x2x19xf32>
    return %0 : tensor<1x4x2x19xf32>
  }
  func.func private @depthwise(%x: tensor<1x6x4x19xf32>, %w: tensor<3x3x3x1x8xf32>) -> tensor<1x4x2x19xf32> attributes {ai.kernel, ai.ops = ["ai.conv"], ai.route = "template", ai.template = {fma = 1 : i64, lanes = 8 : i64, mr = 2 : i64, name = "depthwise", nr = 8 : i64, order = 2 : i64, rows = 1 : i64}} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, filters = 19 : i64, group = 19 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pack = 8 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x6x4x19xf32>, tensor<3x3x3x1x8xf32>) -> tensor<1x4x2x19xf32>
    return %0 : tensor<1x4x2x19xf32>
  }
}
