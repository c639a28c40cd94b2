// RUN: aiopt -p 'ai-pack-weights' %s | filecheck %s --check-prefix=PACK
// RUN: aiopt -p 'ai-pack-weights,convert-ai-to-linalg,canonicalize,cse' %s | filecheck %s
// RUN: sed -e 's/order = 1/order = 0/' %s | aiopt -p 'ai-pack-weights,convert-ai-to-linalg,canonicalize,cse' | filecheck %s --check-prefix=BLOCKS
// RUN: sed -e 's/size = 4/size = 3/' %s | not aiopt -p 'ai-pack-weights' 2>&1 | filecheck %s --check-prefix=SIZE

// Filters are transformed at compile time: 6x6 numbers for each filter and channel.
// PACK: "ai.constant"() {key = "packed"} : () -> tensor<1x6x6x1x8xf32>
// PACK: "ai.conv"{{.*}} filters = 1 : i64, {{.*}} pack = 8 : i64, {{.*}} winograd = 4 : i64

// Four tiles of 4x4 pixels, two in a task, which has buffers for 36 matrices of 2 rows.
// CHECK-LABEL: func.func private @conv(
// CHECK: scf.forall (%[[PART:.*]]) in (2) {
// CHECK: memref.alloc() : memref<576xf32>
// Tiles inside the image are loaded as they are, others pixel by pixel where there are any.
// CHECK: scf.if
// The products of two tiles at a time, for one position after the other.
// CHECK: scf.for %{{.*}} = %c0 to %c36 step %c1
// CHECK: memref.prefetch
// CHECK: vector.fma
// CHECK-NOT: linalg

// All tiles first, 36 matrices for each chunk of two, then blocks of filters.
// BLOCKS: memref.alloc() : memref<1152xf32>
// BLOCKS: scf.forall (%{{.*}}, %{{.*}}) in (2, 2) {
// BLOCKS: scf.forall (%{{.*}}) in (2) {

// SIZE: error: {{.*}}@conv: winograd has tiles of (2, 4) pixels squared, not 3

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<1x8x8x1xf32> {ai.name = "x"}) -> (tensor<1x8x8x1xf32> {ai.name = "y"}) {
    %w = arith.constant dense<0.5> : tensor<1x1x3x3xf32>
    %0 = call @conv(%x, %w) : (tensor<1x8x8x1xf32>, tensor<1x1x3x3xf32>) -> tensor<1x8x8x1xf32>
    return %0 : tensor<1x8x8x1xf32>
  }
  func.func private @conv(%x: tensor<1x8x8x1xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x8x8x1xf32> attributes {ai.kernel, ai.ops = ["ai.conv"], ai.route = "template", ai.template = {fma = 1 : i64, lanes = 8 : i64, mr = 2 : i64, name = "winograd", nr = 8 : i64, order = 1 : i64, parts = 2 : i64, size = 4 : i64, tiles = 2 : i64}} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x8x8x1xf32>, tensor<1x1x3x3xf32>) -> tensor<1x8x8x1xf32>
    return %0 : tensor<1x8x8x1xf32>
  }
}
