// RUN: aiopt -p 'ai-assign-layout{layout=channels_last}' %s | filecheck %s
// RUN: aiopt -p 'ai-assign-layout{layout=channels_last},ai-assign-layout{layout=channels_last}' %s | filecheck %s
// RUN: aiopt -p ai-assign-layout %s | filecheck %s --check-prefix=SAME
// RUN: aiopt -p 'ai-assign-layout{layout=channels_first}' %s | filecheck %s --check-prefix=SAME
// RUN: not aiopt -p 'ai-assign-layout{layout=nhwc}' %s 2>&1 | filecheck %s --check-prefix=WORD
// WORD: error: ai-assign-layout: option 'layout' must be one of auto, channels_first, channels_last, not 'nhwc'

// This graph is too small to gain from another layout.
// SAME-NOT: channels_last
// SAME: return

module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main
  // One relayout where the input comes in.
  // CHECK: "ai.relayout"(%{{.*}}) {to = "channels_last"} : (tensor<1x3x8x6xf32>) -> tensor<1x8x6x3xf32>
  // CHECK: "ai.conv"{{.*}}layout = "channels_last"{{.*}} -> tensor<1x8x6x4xf32>
  // A value per channel broadcasts along the last dimension.
  // CHECK: "ai.mul"({{.*}}) : (tensor<1x8x6x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x8x6x4xf32>
  // CHECK: "ai.max_pool"{{.*}}layout = "channels_last"{{.*}} -> tensor<1x4x3x4xf32>
  // CHECK: "ai.slice"{{.*}}sizes = array<i64: 1, 4, 3, 2>, starts = array<i64: 0, 0, 0, 1>
  // CHECK: "ai.concat"{{.*}}axis = 3 : i64{{.*}} -> tensor<1x4x3x6xf32>
  // CHECK: "ai.softmax"({{.*}}) {axis = 3 : i64}
  // The mean over all pixels is the same in both layouts but for a view.
  // CHECK: "ai.reduce_mean"({{.*}}) {axes = array<i64: 1, 2>, keepdims = true} : (tensor<1x4x3x6xf32>) -> tensor<1x1x1x6xf32>
  // CHECK-NEXT: "ai.reshape"({{.*}}) {shape = array<i64: 1, 6, 1, 1>}
  // The last convolution's result is wanted in its own order, the transpose is what there is already.
  // CHECK: "ai.conv"{{.*}}layout = "channels_last"{{.*}} -> tensor<1x4x3x5xf32>
  // CHECK-NEXT: "ai.relayout"(%{{.*}}) {to = "channels_first"} : (tensor<1x4x3x5xf32>) -> tensor<1x5x4x3xf32>
  // CHECK-NOT: ai.transpose
  // CHECK: return
  func.func @main(%x: tensor<1x3x8x6xf32>, %w: tensor<4x3x3x3xf32>, %s: tensor<1x4x1x1xf32>, %v: tensor<5x6x1x1xf32>) -> (tensor<1x6x1x1xf32>, tensor<1x4x3x6xf32>, tensor<1x5x4x3xf32>) {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x3x8x6xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x6xf32>
    %1 = "ai.mul"(%0, %s) : (tensor<1x4x8x6xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x6xf32>
    %2 = "ai.max_pool"(%1) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x8x6xf32>) -> tensor<1x4x4x3xf32>
    %3 = "ai.slice"(%2) {sizes = array<i64: 1, 2, 4, 3>, starts = array<i64: 0, 1, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x4x4x3xf32>) -> tensor<1x2x4x3xf32>
    %4 = "ai.concat"(%2, %3) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>} : (tensor<1x4x4x3xf32>, tensor<1x2x4x3xf32>) -> tensor<1x6x4x3xf32>
    %5 = "ai.softmax"(%4) {axis = 1 : i64} : (tensor<1x6x4x3xf32>) -> tensor<1x6x4x3xf32>
    %6 = "ai.reduce_mean"(%5) {axes = array<i64: 2, 3>, keepdims = true} : (tensor<1x6x4x3xf32>) -> tensor<1x6x1x1xf32>
    %7 = "ai.transpose"(%5) {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x6x4x3xf32>) -> tensor<1x4x3x6xf32>
    %8 = "ai.conv"(%5, %v) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x6x4x3xf32>, tensor<5x6x1x1xf32>) -> tensor<1x5x4x3xf32>
    return %6, %7, %8 : tensor<1x6x1x1xf32>, tensor<1x4x3x6xf32>, tensor<1x5x4x3xf32>
  }
}
