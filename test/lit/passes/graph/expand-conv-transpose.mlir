// RUN: aiopt -p ai-expand-conv-transpose %s | filecheck %s
// RUN: not aiopt -p 'ai-expand-conv-transpose{n=1}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: ai-expand-conv-transpose has no option 'n'

module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x4x3x5xf32>, %[[W:[a-z0-9]+]]: tensor<4x3x2x2xf32>, %[[W4:[a-z0-9]+]]: tensor<4x4x2x2xf32>
  func.func @main(%x: tensor<1x4x3x5xf32>, %w: tensor<4x3x2x2xf32>, %v: tensor<4x4x2x2xf32>) -> (tensor<1x3x6x10xf32>, tensor<1x3x5x10xf32>, tensor<1x4x6x10xf32>) {
    // CHECK: %[[T:.*]] = "ai.transpose"(%[[W]]) {permutation = array<i64: 1, 2, 3, 0>}
    // CHECK: %[[F:.*]] = "ai.reshape"(%[[T]]) {shape = array<i64: 12, 4, 1, 1>}
    // CHECK: %[[C:.*]] = "ai.conv"(%[[X]], %[[F]])
    // CHECK: %[[V:.*]] = "ai.reshape"(%[[C]]) {shape = array<i64: 1, 3, 2, 2, 3, 5>}
    // CHECK: %[[P:.*]] = "ai.transpose"(%[[V]]) {permutation = array<i64: 0, 1, 4, 2, 5, 3>}
    // CHECK: %[[R:.*]] = "ai.relu"(%[[P]])
    // CHECK: %[[A:.*]] = "ai.reshape"(%[[R]]) {shape = array<i64: 1, 3, 6, 10>}
    %0 = "ai.conv_transpose"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, output_pads = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x3x5xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x6x10xf32>
    %a = "ai.relu"(%0) : (tensor<1x3x6x10xf32>) -> tensor<1x3x6x10xf32>
    // Windows cut by pads do not tile the result.
    // CHECK: %[[B:.*]] = "ai.conv_transpose"(%[[X]], %[[W]])
    %b = "ai.conv_transpose"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, output_pads = array<i64: 0, 0>, pads = array<i64: 1, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x3x5xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x5x10xf32>
    // A row of taps has 8 numbers for each pixel. What follows works on the product.
    // CHECK: %[[L:.*]] = "ai.transpose"(%[[X]]) {permutation = array<i64: 0, 2, 3, 1>}
    // CHECK: %[[ROWS:.*]] = "ai.reshape"(%[[L]]) {shape = array<i64: 3, 1, 5, 4>}
    // CHECK: %[[O:.*]] = "ai.transpose"(%[[W4]]) {permutation = array<i64: 2, 0, 3, 1>}
    // CHECK: %[[TAPS:.*]] = "ai.reshape"(%[[O]]) {shape = array<i64: 1, 2, 4, 8>}
    // CHECK: %[[M:.*]] = "ai.matmul"(%[[ROWS]], %[[TAPS]])
    // CHECK: %[[MR:.*]] = "ai.relu"(%[[M]]) : (tensor<3x2x5x8xf32>)
    // CHECK: %[[MV:.*]] = "ai.reshape"(%[[MR]]) {shape = array<i64: 1, 6, 10, 4>}
    // CHECK: %[[Y:.*]] = "ai.transpose"(%[[MV]]) {permutation = array<i64: 0, 3, 1, 2>}
    %c = "ai.conv_transpose"(%x, %v) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, output_pads = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x3x5xf32>, tensor<4x4x2x2xf32>) -> tensor<1x4x6x10xf32>
    %d = "ai.relu"(%c) : (tensor<1x4x6x10xf32>) -> tensor<1x4x6x10xf32>
    // CHECK: return %[[A]], %[[B]], %[[Y]]
    return %a, %b, %d : tensor<1x3x6x10xf32>, tensor<1x3x5x10xf32>, tensor<1x4x6x10xf32>
  }
}
