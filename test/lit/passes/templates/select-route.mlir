// RUN: aiopt -p 'ai-select-route{vector-bits=256 registers=16 fma=true}' %s | filecheck %s
// RUN: aiopt -p 'ai-select-route{vector-bits=512 registers=32}' %s | filecheck %s --check-prefix=WIDE
// RUN: aiopt -p 'ai-select-route{templates=false}' %s | filecheck %s --check-prefix=NONE
// RUN: not aiopt -p 'ai-select-route{lanes=8}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: sed -e '/^  func.func private @conv_channels_first/,/^  }/d' %s | not aiopt -p 'ai-select-route,convert-ai-to-linalg,ai-select-route' 2>&1 | filecheck %s --check-prefix=LEVEL

// CHECK-LABEL: func.func private @matmul_add(
// CHECK-SAME: ai.route = "template"
// CHECK-SAME: ai.template = {ahead = 0 : i64, copy = 0 : i64, dot = 0 : i64, fma = 1 : i64, kc = 64 : i64, lanes = 8 : i64, mr = 6 : i64, name = "matmul", nr = 16 : i64, panels = {{[0-9]+}} : i64, tiles = {{[0-9]+}} : i64}
// A weight that is packed already decides about nr.
// CHECK-LABEL: func.func private @conv(
// CHECK-SAME: ai.route = "template"
// CHECK-SAME: name = "conv", nr = 8 : i64
// CHECK-LABEL: func.func private @conv_depthwise(
// CHECK-SAME: name = "depthwise"
// A convolution of single pixels is a matrix product.
// CHECK-LABEL: func.func private @conv_pointwise(
// CHECK-SAME: name = "matmul"
// With channels first, too, and with any weight.
// CHECK-LABEL: func.func private @conv_pointwise_channels_first(
// CHECK-SAME: name = "matmul"
// CHECK-LABEL: func.func private @conv_pointwise_strided(
// CHECK-SAME: ai.route = "structured"
// Not covered: a weight that is not known, channels first, another element type, a root that is no contraction, an
// epilogue with another shape or with a cast. A route that was set stays.
// CHECK-LABEL: func.func private @conv_unknown_weight(
// CHECK-SAME: ai.route = "structured"
// CHECK-LABEL: func.func private @conv_channels_first(
// CHECK-SAME: ai.route = "structured"
// CHECK-LABEL: func.func private @matmul_f64(
// CHECK-SAME: ai.route = "structured"
// CHECK-LABEL: func.func private @relu(
// CHECK-SAME: ai.route = "structured"
// CHECK-LABEL: func.func private @matmul_cast(
// CHECK-SAME: ai.route = "structured"
// CHECK-LABEL: func.func private @matmul_decided(
// CHECK-SAME: ai.route = "structured"

// WIDE-LABEL: func.func private @matmul_add(
// WIDE-SAME: fma = 0 : i64, kc = 64 : i64, lanes = 16 : i64

// NONE-LABEL: func.func private @matmul_add(
// NONE-SAME: ai.route = "structured"
// NONE-NOT: ai.template

// OPTION: error: ai-select-route has no option 'lanes' (it has: cores, dot, fma, l2-bytes, library, parallel, registers, templates, vector-bits, winograd)
// LEVEL: error: ai-select-route takes IR of level kernels, but this is tensor

module attributes {ai.level = "kernels"} {
  func.func @main(%a: tensor<60x64xf32> {ai.name = "a"}, %b: tensor<64x64xf32> {ai.name = "b"}) -> (tensor<60x64xf32> {ai.name = "y"}) {
    %0 = call @matmul_add(%a, %b) : (tensor<60x64xf32>, tensor<64x64xf32>) -> tensor<60x64xf32>
    return %0 : tensor<60x64xf32>
  }
  func.func private @matmul_add(%a: tensor<60x64xf32>, %b: tensor<64x64xf32>) -> tensor<60x64xf32> attributes {ai.kernel, ai.ops = ["ai.matmul", "ai.add"]} {
    %0 = "ai.matmul"(%a, %b) {acc = f32} : (tensor<60x64xf32>, tensor<64x64xf32>) -> tensor<60x64xf32>
    %1 = "ai.add"(%0, %a) : (tensor<60x64xf32>, tensor<60x64xf32>) -> tensor<60x64xf32>
    return %1 : tensor<60x64xf32>
  }
  func.func private @conv(%x: tensor<1x9x9x4xf32>, %w: tensor<2x3x3x4x8xf32>) -> tensor<1x9x9x12xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, filters = 12 : i64, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pack = 8 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x9x9x4xf32>, tensor<2x3x3x4x8xf32>) -> tensor<1x9x9x12xf32>
    return %0 : tensor<1x9x9x12xf32>
  }
  func.func private @conv_depthwise(%x: tensor<1x9x9x12xf32>, %w: tensor<2x3x3x1x8xf32>) -> tensor<1x9x9x12xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, filters = 12 : i64, group = 12 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pack = 8 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x9x9x12xf32>, tensor<2x3x3x1x8xf32>) -> tensor<1x9x9x12xf32>
    return %0 : tensor<1x9x9x12xf32>
  }
  func.func private @conv_pointwise(%x: tensor<1x9x9x4xf32>, %w: tensor<2x1x1x4x8xf32>) -> tensor<1x9x9x12xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, filters = 12 : i64, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pack = 8 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x9x9x4xf32>, tensor<2x1x1x4x8xf32>) -> tensor<1x9x9x12xf32>
    return %0 : tensor<1x9x9x12xf32>
  }
  func.func private @conv_pointwise_channels_first(%x: tensor<1x4x9x9xf32>, %w: tensor<12x4x1x1xf32>) -> tensor<1x12x9x9xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x9x9xf32>, tensor<12x4x1x1xf32>) -> tensor<1x12x9x9xf32>
    return %0 : tensor<1x12x9x9xf32>
  }
  func.func private @conv_pointwise_strided(%x: tensor<1x4x9x9xf32>, %w: tensor<12x4x1x1xf32>) -> tensor<1x12x5x5xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x9x9xf32>, tensor<12x4x1x1xf32>) -> tensor<1x12x5x5xf32>
    return %0 : tensor<1x12x5x5xf32>
  }
  func.func private @conv_unknown_weight(%x: tensor<1x9x9x4xf32>, %w: tensor<12x4x3x3xf32>) -> tensor<1x9x9x12xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x9x9x4xf32>, tensor<12x4x3x3xf32>) -> tensor<1x9x9x12xf32>
    return %0 : tensor<1x9x9x12xf32>
  }
  func.func private @conv_channels_first(%x: tensor<1x4x9x9xf32>, %w: tensor<2x3x3x4x8xf32>) -> tensor<1x16x9x9xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, filters = 16 : i64, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pack = 8 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x4x9x9xf32>, tensor<2x3x3x4x8xf32>) -> tensor<1x16x9x9xf32>
    return %0 : tensor<1x16x9x9xf32>
  }
  func.func private @matmul_f64(%a: tensor<6x4xf64>, %b: tensor<4x4xf64>) -> tensor<6x4xf64> attributes {ai.kernel, ai.ops = ["ai.matmul"]} {
    %0 = "ai.matmul"(%a, %b) {acc = f64} : (tensor<6x4xf64>, tensor<4x4xf64>) -> tensor<6x4xf64>
    return %0 : tensor<6x4xf64>
  }
  func.func private @relu(%a: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {ai.kernel, ai.ops = ["ai.relu"]} {
    %0 = "ai.relu"(%a) : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
  func.func private @matmul_cast(%a: tensor<6x4xf32>, %b: tensor<4x4xf32>) -> tensor<6x4xi32> attributes {ai.kernel, ai.ops = ["ai.matmul", "ai.cast"]} {
    %0 = "ai.matmul"(%a, %b) {acc = f32} : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
    %1 = "ai.cast"(%0) {to = i32} : (tensor<6x4xf32>) -> tensor<6x4xi32>
    return %1 : tensor<6x4xi32>
  }
  func.func private @matmul_decided(%a: tensor<6x4xf32>, %b: tensor<4x4xf32>) -> tensor<6x4xf32> attributes {ai.kernel, ai.ops = ["ai.matmul"], ai.route = "structured"} {
    %0 = "ai.matmul"(%a, %b) {acc = f32} : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
}
