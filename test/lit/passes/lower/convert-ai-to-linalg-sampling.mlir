// RUN: aiopt -p convert-ai-to-linalg %s | filecheck %s
// RUN: sed 's/axis = 0/axis = 5/' %s > %t.mlir
// RUN: not aiopt -p convert-ai-to-linalg %t.mlir 2>&1 | filecheck %s --check-prefix=AXIS

// Negative indices count from the end, and none is left outside.
// CHECK-LABEL: func.func private @gather(
// CHECK: arith.cmpi slt
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<8x3xf32>

// Repeating elements is a division of the index.
// CHECK-LABEL: func.func private @repeat(
// CHECK: arith.divui %{{.*}}, %c2
// CHECK: tensor.extract

// CHECK-LABEL: func.func private @linear(
// CHECK: arith.divf
// CHECK: math.floor
// CHECK-COUNT-2: tensor.extract

// AXIS: error: {{.*}}ai.gather

func.func private @gather(%x: tensor<8x3xf32>, %i: tensor<5xi64>) -> tensor<5x3xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.gather"(%x, %i) {axis = 0 : i64} : (tensor<8x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
func.func private @repeat(%x: tensor<3x5xf32>) -> tensor<6x5xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.resize"(%x) {shape = array<i64: 6, 5>, scales = array<f64: 2.0, 1.0>, mode = "nearest", coordinates = "asymmetric", rounding = "floor"} : (tensor<3x5xf32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}
func.func private @linear(%x: tensor<3x5xf32>) -> tensor<4x5xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.resize"(%x) {shape = array<i64: 4, 5>, scales = array<f64: 1.25, 1.0>, mode = "linear", coordinates = "half_pixel", rounding = "floor"} : (tensor<3x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
