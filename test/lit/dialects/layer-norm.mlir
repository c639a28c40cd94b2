// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/tensor<4x8xf32>/tensor<8xf32>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SCALE
// RUN: sed 's/axis = 1/axis = 3/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=AXIS

// CHECK-LABEL: func.func @layer_norm
// CHECK: "ai.layer_norm"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = 1 : i64, epsilon = {{1.0+e-05|1.000000e-05}} : f64, operandSegmentSizes = array<i32: 1, 1, 1>}
// CHECK: "ai.layer_norm"(%{{.*}}, %{{.*}}) {{.*}}operandSegmentSizes = array<i32: 1, 1, 0>
// SCALE: error: {{.*}}ai.layer_norm: scale must have the shape [4, 8], but has [8] (at 'LayerNormalization_1')
// AXIS: error: {{.*}}ai.layer_norm: axis 3 is out of range for rank 3
func.func @layer_norm(%x: tensor<2x4x8xf32>, %p: tensor<4x8xf32>) {
  %0 = "ai.layer_norm"(%x, %p, %p) {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32> loc("LayerNormalization_1")
  %1 = "ai.layer_norm"(%x, %p) {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  return
}
