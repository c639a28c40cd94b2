// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/tensor<4xf32>/tensor<8xf32>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=CHANNELS
// RUN: sed 's/tensor<4xf32>/tensor<4xf16>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: sed 's/epsilon = 1.0e-5 : f64/epsilon = 1.0e-5 : f32/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=EPSILON
// RUN: sed 's/axis = 2/axis = 3/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=AXIS
// RUN: sed 's/axis = 2/axis = -1/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=NEGATIVE

// CHECK-LABEL: func.func @batch_norm
// CHECK: "ai.batch_norm"(%{{.*}}) {epsilon = {{1.0+e-05|1.000000e-05}} : f64} : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
// CHANNELS: error: {{.*}}ai.batch_norm: scale must have the shape [4], but has [8] (at 'BatchNormalization_1')
// TYPE: error: {{.*}}ai.batch_norm: the operands must have one element type (input: f32, scale: f16
// EPSILON: error: {{.*}}ai.batch_norm: attribute 'epsilon' must be a number of type f64
func.func @batch_norm(%x: tensor<2x4x8xf32>, %p: tensor<4xf32>) {
  %0 = "ai.batch_norm"(%x, %p, %p, %p, %p) {epsilon = 1.0e-5 : f64} : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32> loc("BatchNormalization_1")
  return
}

// CHECK-LABEL: func.func @softmax
// CHECK: "ai.softmax"(%{{.*}}) {axis = 2 : i64} : (tensor<2x3x5xf16>) -> tensor<2x3x5xf16>
// AXIS: error: {{.*}}ai.softmax: axis 3 is out of range for rank 3 (axes count from the front) (at 'Softmax_2')
// NEGATIVE: error: {{.*}}ai.softmax: axis -1 is out of range for rank 3
func.func @softmax(%x: tensor<2x3x5xf16>) {
  %0 = "ai.softmax"(%x) {axis = 2 : i64} : (tensor<2x3x5xf16>) -> tensor<2x3x5xf16> loc("Softmax_2")
  return
}
