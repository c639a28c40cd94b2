// RUN: aiopt -p convert-ai-to-linalg %s | filecheck %s
// RUN: sed 's/4x8x3x3/4x7x3x3/g' %s > %t.mlir
// RUN: not aiopt -p convert-ai-to-linalg %t.mlir 2>&1 | filecheck %s --check-prefix=CHANNELS

// Parallel loops, then reductions, and innermost the loop that walks the result by unit stride.
// CHECK-LABEL: func.func private @conv(
// CHECK: tensor.empty() : tensor<1x8x8x8xf32>
// CHECK: linalg.fill
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 1, 1] [1, 8, 6, 6] [1, 1, 1, 1]
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
// CHECK: arith.mulf
// CHECK: arith.addf

// CHECK-LABEL: func.func private @depthwise(
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]
// CHECK-SAME: tensor<1x8x6x6xf32>, tensor<8x1x3x3xf32>

// CHECK-LABEL: func.func private @grouped(
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3], [4]]
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]
// CHECK: tensor.collapse_shape

// Sums are kept in f32 and rounded once.
// CHECK-LABEL: func.func private @half(
// CHECK: tensor.empty() : tensor<5x4x6xf32>
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16

// In channels_last the channels are innermost; the border goes around the pixels.
// CHECK-LABEL: func.func private @last(
// CHECK-SAME: ai.layout = "channels_last"
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 1, 1, 0] [1, 6, 6, 8] [1, 1, 1, 1]
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<1x8x8x8xf32>, tensor<4x8x3x3xf32>) outs(%{{.*}} : tensor<1x6x6x4xf32>)

// Packed filters: the result's channels are split in blocks.
// CHECK-LABEL: func.func private @packed(
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2], [3, 4]]
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]
// CHECK-SAME: outs(%{{.*}} : tensor<1x4x4x2x8xf32>)
// CHECK: tensor.collapse_shape

// CHANNELS: error: {{.*}}ai.conv

func.func private @conv(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x3x3xf32>) -> tensor<1x4x6x6xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
  %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}
func.func private @depthwise(%x: tensor<1x8x6x6xf32>, %w: tensor<8x1x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x8x4x4xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
  %0 = "ai.conv"(%x, %w, %b) {acc = f32, dilations = array<i64: 1, 1>, group = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x6x6xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  return %0 : tensor<1x8x4x4xf32>
}
func.func private @grouped(%x: tensor<1x8x6x6xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x4x4xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
  %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}
func.func private @half(%x: tensor<5x4x8xf16>, %w: tensor<8x6xf16>) -> tensor<5x4x6xf16> attributes {ai.kernel, ai.ops = ["ai.matmul"]} {
  %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<5x4x8xf16>, tensor<8x6xf16>) -> tensor<5x4x6xf16>
  return %0 : tensor<5x4x6xf16>
}
func.func private @last(%x: tensor<1x6x6x8xf32>, %w: tensor<4x8x3x3xf32>) -> tensor<1x6x6x4xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
  %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x6x6x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x6x6x4xf32>
  return %0 : tensor<1x6x6x4xf32>
}
func.func private @packed(%x: tensor<1x6x6x5xf32>, %w: tensor<2x3x3x5x8xf32>) -> tensor<1x4x4x16xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
  %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, filters = 16 : i64, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pack = 8 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x6x6x5xf32>, tensor<2x3x3x5x8xf32>) -> tensor<1x4x4x16xf32>
  return %0 : tensor<1x4x4x16xf32>
}
