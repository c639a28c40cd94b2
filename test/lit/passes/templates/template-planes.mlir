// RUN: aiopt -p 'convert-ai-to-linalg,canonicalize,cse' %s | filecheck %s
// RUN: sed -e 's/fma = 1/fma = 0/' %s | aiopt -p 'convert-ai-to-linalg,canonicalize,cse' | filecheck %s --check-prefix=TWO
// RUN: sed -e 's/mr = 2/nr = 2/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=NUMBERS
// RUN: sed -e 's/name = "planes"/name = "depthwise", nr = 8 : i64, order = 0 : i64, rows = 1 : i64/; s/planes = 3 : i64, //; s/tiles = 2 : i64//; s/1 : i64, }/1 : i64}/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=COVER

// A task is a plane of three: the weights first, then a tile of the upper two rows, whose windows begin in the padding.
// CHECK-LABEL: func.func private @conv(
// CHECK: scf.forall (%{{.*}}) in (2) {
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1 {
// CHECK-COUNT-9: memref.load
// The first vector: three rows are loaded once for both. What lies before a row is zero.
// CHECK: vector.load
// CHECK: vector.shuffle {{.*}} [8, 0, 1, 2, 3, 4, 5, 6]
// Those inside, in a loop.
// CHECK: scf.for %{{.*}} = %c8 to %c24 step %c8 {
// CHECK-COUNT-9: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-2: vector.store
// CHECK: }
// CHECK-NOT: linalg

// TWO-NOT: vector.fma
// TWO: arith.mulf
// TWO: arith.addf

// NUMBERS: error: @conv: the template 'planes' takes fma, lanes, mr, planes, tiles, not fma, lanes, nr, planes, tiles
// COVER: error: the template 'depthwise' does not cover @conv: run ai-select-route, ai-pack-weights

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<1x6x4x29xf32> {ai.name = "x"}, %w: tensor<6x1x3x3xf32> {ai.name = "w"}) -> (tensor<1x6x4x29xf32> {ai.name = "y"}) {
    %0 = call @conv(%x, %w) : (tensor<1x6x4x29xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x4x29xf32>
    return %0 : tensor<1x6x4x29xf32>
  }
  func.func private @conv(%x: tensor<1x6x4x29xf32>, %w: tensor<6x1x3x3xf32>) -> tensor<1x6x4x29xf32> attributes {ai.kernel, ai.ops = ["ai.conv"], ai.route = "template", ai.template = {fma = 1 : i64, lanes = 8 : i64, mr = 2 : i64, name = "planes", planes = 3 : i64, tiles = 2 : i64}} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 6 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x6x4x29xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x4x29xf32>
    return %0 : tensor<1x6x4x29xf32>
  }
}
