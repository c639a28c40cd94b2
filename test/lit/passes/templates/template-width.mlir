// How threads divide the loops of templates: `ai.width` on a loop says that each has the same part of every row of it.
// RUN: aiopt -p 'ai-pack-weights,convert-ai-to-linalg' %s | filecheck %s
// RUN: sed -e 's/nr = 64/nr = 16/' %s | aiopt -p 'ai-pack-weights,convert-ai-to-linalg' | filecheck %s --check-prefix=SPLIT

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<1x32x32x16xf32> {ai.name = "x"}, %a: tensor<64x16xf32> {ai.name = "a"}) -> (tensor<1x32x32x64xf32> {ai.name = "y"}, tensor<64x64xf32> {ai.name = "z"}) {
    %w = arith.constant dense<0.5> : tensor<64x16x1x1xf32>
    %b = arith.constant dense<0.5> : tensor<16x64xf32>
    %0 = call @conv(%x, %w) : (tensor<1x32x32x16xf32>, tensor<64x16x1x1xf32>) -> tensor<1x32x32x64xf32>
    %1 = call @matmul(%a, %b) : (tensor<64x16xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
    return %0, %1 : tensor<1x32x32x64xf32>, tensor<64x64xf32>
  }
  // Few weights, many pixels: each thread has some of the 32 groups of pixels, for all four blocks of filters.
  // CHECK-LABEL: func.func private @conv(
  // CHECK: scf.forall (%{{.*}}, %{{.*}}) in (1, 32) {
  // CHECK-NOT: ai.width
  // SPLIT-LABEL: func.func private @conv(
  // SPLIT: scf.forall (%{{.*}}, %{{.*}}) in (4, 32) {
  // SPLIT: {ai.width = 32 : i64}
  func.func private @conv(%x: tensor<1x32x32x16xf32>, %w: tensor<64x16x1x1xf32>) -> tensor<1x32x32x64xf32> attributes {ai.kernel, ai.ops = ["ai.conv"], ai.route = "template", ai.template = {ahead = 0 : i64, copy = 0 : i64, dot = 0 : i64, fma = 1 : i64, kc = 16 : i64, lanes = 8 : i64, mr = 4 : i64, name = "matmul", nr = 64 : i64, panels = 1 : i64, tiles = 8 : i64}} {
    %0 = "ai.conv"(%x, %w) {acc = f32, operandSegmentSizes = array<i32: 1, 1, 0>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, group = 1 : i64, layout = "channels_last"} : (tensor<1x32x32x16xf32>, tensor<64x16x1x1xf32>) -> tensor<1x32x32x64xf32>
    return %0 : tensor<1x32x32x64xf32>
  }
  // Of a product that is no convolution the columns.
  // SPLIT-LABEL: func.func private @matmul(
  // SPLIT: scf.forall (%{{.*}}, %{{.*}}) in (4, 2) {
  // SPLIT-NOT: ai.width
  func.func private @matmul(%a: tensor<64x16xf32>, %b: tensor<16x64xf32>) -> tensor<64x64xf32> attributes {ai.kernel, ai.ops = ["ai.matmul"], ai.route = "template", ai.template = {ahead = 0 : i64, copy = 0 : i64, dot = 0 : i64, fma = 1 : i64, kc = 16 : i64, lanes = 8 : i64, mr = 4 : i64, name = "matmul", nr = 64 : i64, panels = 1 : i64, tiles = 8 : i64}} {
    %0 = "ai.matmul"(%a, %b) {acc = f32} : (tensor<64x16xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}
