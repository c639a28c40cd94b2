// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/group = 1/group = 3/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=GROUP
// RUN: sed 's/pads = array<i64: 1, 0, 0, 1>/pads = array<i64: 9, 0, 0, 1>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=PADS
// RUN: sed 's/tensor<3xf32>/tensor<4xf32>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=BIAS

// CHECK-LABEL: func.func @main
// CHECK: "ai.conv_transpose"(%{{.*}}, %{{.*}}, %{{.*}}) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, output_pads = array<i64: 1, 0>, pads = array<i64: 1, 0, 0, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x3x5xf32>, tensor<4x3x2x2xf32>, tensor<3xf32>) -> tensor<1x3x6x9xf32>
// GROUP: error: {{.*}}ai.conv_transpose: 4 input channels in 3 groups need whole groups {{.*}}(at 'ConvTranspose_1')
// PADS: error: {{.*}}ai.conv_transpose: spatial dimension 0: nothing is left of 7 elements after pads [9, 0, 0, 1]
// BIAS: error: {{.*}}ai.conv_transpose: the bias must have the shape [3], but has [4]
func.func @main(%x: tensor<1x4x3x5xf32>, %w: tensor<4x3x2x2xf32>, %b: tensor<3xf32>) {
  %0 = "ai.conv_transpose"(%x, %w, %b) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, output_pads = array<i64: 1, 0>, pads = array<i64: 1, 0, 0, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x3x5xf32>, tensor<4x3x2x2xf32>, tensor<3xf32>) -> tensor<1x3x6x9xf32> loc("ConvTranspose_1")
  return
}
