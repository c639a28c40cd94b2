// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/tensor<2x5xi64>/tensor<2x5xi16>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=INDEX
// RUN: sed 's/axis = 0/axis = 2/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=AXIS
// RUN: sed 's/"linear"/"cubic"/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=MODE
// RUN: sed 's/scales = array<f64: 1.0, 1.5>/scales = array<i64: 1, 2>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SCALES

// CHECK-LABEL: func.func @main
// CHECK: "ai.gather"(%{{.*}}, %{{.*}}) {axis = 0 : i64} : (tensor<8x3xf32>, tensor<2x5xi64>) -> tensor<2x5x3xf32>
// CHECK: "ai.resize"(%{{.*}}) {coordinates = "half_pixel", mode = "linear", rounding = "floor", scales = array<f64: 1.{{0+(e\+00)?}}, 1.5{{0*(e\+00)?}}>, shape = array<i64: 8, 4>} : (tensor<8x3xf32>) -> tensor<8x4xf32>
// INDEX: error: {{.*}}ai.gather: operand 'indices' must be a tensor of i32 or i64, but is tensor<2x5xi16> (at 'Gather_1')
// AXIS: error: {{.*}}ai.gather: axis 2 is out of range for rank 2 (axes count from the front) (at 'Gather_1')
// MODE: error: {{.*}}ai.resize: mode must be one of nearest, linear, but is 'cubic' (at 'Resize_2')
// SCALES: error: {{.*}}ai.resize: attribute 'scales' must be an array of f64
func.func @main(%x: tensor<8x3xf32>, %i: tensor<2x5xi64>) {
  %0 = "ai.gather"(%x, %i) {axis = 0 : i64} : (tensor<8x3xf32>, tensor<2x5xi64>) -> tensor<2x5x3xf32> loc("Gather_1")
  %1 = "ai.resize"(%x) {shape = array<i64: 8, 4>, scales = array<f64: 1.0, 1.5>, mode = "linear", coordinates = "half_pixel", rounding = "floor"} : (tensor<8x3xf32>) -> tensor<8x4xf32> loc("Resize_2")
  return
}
