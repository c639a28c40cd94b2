// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/tensor<3x1xf32>/tensor<2x1xf32>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SCALE
// RUN: sed 's/%z: tensor<ui8>/%z: tensor<i32>/; s/tensor<3x1xf32>, tensor<ui8>) -> tensor<2x3x4xui8>/tensor<3x1xf32>, tensor<i32>) -> tensor<2x3x4xi32>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=WIDE
// RUN: sed 's/%n: tensor<i8>/%n: tensor<ui8>/; s/tensor<f16>, tensor<i8>)/tensor<f16>, tensor<ui8>)/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=ZERO

// CHECK-LABEL: func.func @quantize
// CHECK: "ai.quantize_linear"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<2x3x4xf32>, tensor<3x1xf32>, tensor<ui8>) -> tensor<2x3x4xui8>
// SCALE: error: {{.*}}ai.quantize_linear: scale of shape [2, 1] does not broadcast to [2, 3, 4] (at 'Quantize_1')
// WIDE: error: {{.*}}ai.quantize_linear: operand 'zero_point' must be a tensor of i8, ui8, i16 or ui16, but is tensor<i32> (at 'Quantize_1')
func.func @quantize(%x: tensor<2x3x4xf32>, %s: tensor<3x1xf32>, %z: tensor<ui8>) {
  %0 = "ai.quantize_linear"(%x, %s, %z) : (tensor<2x3x4xf32>, tensor<3x1xf32>, tensor<ui8>) -> tensor<2x3x4xui8> loc("Quantize_1")
  return
}

// CHECK-LABEL: func.func @dequantize
// CHECK: "ai.dequantize_linear"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<2x3xi8>, tensor<f16>, tensor<i8>) -> tensor<2x3xf16>
// ZERO: error: {{.*}}ai.dequantize_linear: the operands must have one element type (input: i8, zero_point: ui8) (at 'Dequantize_2')
func.func @dequantize(%x: tensor<2x3xi8>, %s: tensor<f16>, %n: tensor<i8>) {
  %0 = "ai.dequantize_linear"(%x, %s, %n) : (tensor<2x3xi8>, tensor<f16>, tensor<i8>) -> tensor<2x3xf16> loc("Dequantize_2")
  return
}
