// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/tensor<4x5xi8>/tensor<3x5xi8>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=INNER
// RUN: sed 's/%u: tensor<ui8>/%u: tensor<i8>/; s/tensor<4x5xi8>, tensor<ui8>/tensor<4x5xi8>, tensor<i8>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: sed 's/tensor<1x5xi8>/tensor<4x1xi8>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SUMMED
// RUN: sed 's/tensor<3x1xf32>/tensor<1x4xf32>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=ROWS
// RUN: sed 's/tensor<6xi8>/tensor<4xi8>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=FILTERS
// RUN: sed 's/group = 2/group = 4/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=GROUP

// CHECK-LABEL: func.func @multiply
// CHECK: "ai.matmul_integer"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<2x3x4xui8>, tensor<4x5xi8>, tensor<ui8>, tensor<1x5xi8>) -> tensor<2x3x5xi32>
// INNER: error: {{.*}}ai.matmul_integer: the inner dimensions 4 and 3 differ (at 'Multiply_1')
// TYPE: error: {{.*}}ai.matmul_integer: lhs_zero_point must have elements of type ui8, but has i8 (at 'Multiply_1')
// SUMMED: error: {{.*}}ai.matmul_integer: rhs_zero_point of shape [4, 1] does not broadcast to [1, 5] (at 'Multiply_1')
func.func @multiply(%a: tensor<2x3x4xui8>, %b: tensor<4x5xi8>, %u: tensor<ui8>, %y: tensor<1x5xi8>) {
  %0 = "ai.matmul_integer"(%a, %b, %u, %y) : (tensor<2x3x4xui8>, tensor<4x5xi8>, tensor<ui8>, tensor<1x5xi8>) -> tensor<2x3x5xi32> loc("Multiply_1")
  return
}

// CHECK-LABEL: func.func @qlinear
// CHECK: "ai.qlinear_matmul"({{.*}}) : (tensor<3x4xui8>, tensor<3x1xf32>, tensor<ui8>, tensor<4x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<3x7xi8>
// ROWS: error: {{.*}}ai.qlinear_matmul: a_scale of shape [1, 4] does not broadcast to [3, 1] (at 'QLinear_2')
func.func @qlinear(%a: tensor<3x4xui8>, %r: tensor<3x1xf32>, %z: tensor<ui8>, %b: tensor<4x7xi8>, %s: tensor<f32>, %y: tensor<i8>) {
  %0 = "ai.qlinear_matmul"(%a, %r, %z, %b, %s, %y, %s, %y) : (tensor<3x4xui8>, tensor<3x1xf32>, tensor<ui8>, tensor<4x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<3x7xi8> loc("QLinear_2")
  return
}

// CHECK-LABEL: func.func @convolve
// CHECK: "ai.conv_integer"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {dilations = array<i64: 1, 1>, group = 2 : i64, pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 1>} : (tensor<1x4x8x8xui8>, tensor<6x2x3x3xi8>, tensor<ui8>, tensor<6xi8>) -> tensor<1x6x4x7xi32>
// FILTERS: error: {{.*}}ai.conv_integer: weight_zero_point must have the shape [] or [6], but has [4] (at 'Convolve_3')
// GROUP: error: {{.*}}ai.conv_integer: 4 input channels and 6 filters in 4 groups need a weight of [6, 4 / 4, ...]
func.func @convolve(%x: tensor<1x4x8x8xui8>, %w: tensor<6x2x3x3xi8>, %z: tensor<ui8>, %y: tensor<6xi8>) {
  %0 = "ai.conv_integer"(%x, %w, %z, %y) {dilations = array<i64: 1, 1>, group = 2 : i64, pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 1>} : (tensor<1x4x8x8xui8>, tensor<6x2x3x3xi8>, tensor<ui8>, tensor<6xi8>) -> tensor<1x6x4x7xi32> loc("Convolve_3")
  return
}
