// RUN: aiopt -p 'ai-select-route{vector-bits=256 fma=true}' %s | filecheck %s
// RUN: aiopt -p 'ai-select-route{vector-bits=256 fma=true winograd=off}' %s | filecheck %s --check-prefix=OFF
// RUN: aiopt -p 'ai-select-route{vector-bits=256 fma=true winograd=2}' %s | filecheck %s --check-prefix=SMALL
// RUN: not aiopt -p 'ai-select-route{winograd=3}' %s 2>&1 | filecheck %s --check-prefix=SIZE

// A 3x3 convolution goes by Winograd's algorithm where that costs less: not where most of a tile would be padding.
// CHECK-LABEL: func.func private @wide(
// CHECK-SAME: name = "winograd"
// CHECK-SAME: size = 4 : i64
// CHECK-LABEL: func.func private @tiny(
// CHECK-SAME: name = "conv"
// CHECK-LABEL: func.func private @strided(
// CHECK-SAME: name = "conv"

// OFF-LABEL: func.func private @wide(
// OFF-NOT: name = "winograd"

// A size that is given is taken wherever the algorithm can be.
// SMALL-LABEL: func.func private @wide(
// SMALL-SAME: name = "winograd"
// SMALL-SAME: size = 2 : i64
// SMALL-LABEL: func.func private @tiny(
// SMALL-SAME: name = "winograd"
// SMALL-LABEL: func.func private @strided(
// SMALL-SAME: name = "conv"

// SIZE: error: ai-select-route: option 'winograd' must be one of auto, off, 2, 4, not '3'

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<1x28x28x32xf32> {ai.name = "x"}, %t: tensor<1x3x3x32xf32> {ai.name = "t"}) -> (tensor<1x28x28x32xf32> {ai.name = "a"}, tensor<1x3x3x32xf32> {ai.name = "b"}, tensor<1x14x14x32xf32> {ai.name = "c"}) {
    %w = arith.constant dense<0.5> : tensor<32x32x3x3xf32>
    %0 = call @wide(%x, %w) : (tensor<1x28x28x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x28x28x32xf32>
    %1 = call @tiny(%t, %w) : (tensor<1x3x3x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x3x3x32xf32>
    %2 = call @strided(%x, %w) : (tensor<1x28x28x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x14x14x32xf32>
    return %0, %1, %2 : tensor<1x28x28x32xf32>, tensor<1x3x3x32xf32>, tensor<1x14x14x32xf32>
  }
  func.func private @wide(%x: tensor<1x28x28x32xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<1x28x28x32xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x28x28x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x28x28x32xf32>
    return %0 : tensor<1x28x28x32xf32>
  }
  func.func private @tiny(%x: tensor<1x3x3x32xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<1x3x3x32xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x3x3x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x3x3x32xf32>
    return %0 : tensor<1x3x3x32xf32>
  }
  func.func private @strided(%x: tensor<1x28x28x32xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<1x14x14x32xf32> attributes {ai.kernel, ai.ops = ["ai.conv"]} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x28x28x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x14x14x32xf32>
    return %0 : tensor<1x14x14x32xf32>
  }
}
