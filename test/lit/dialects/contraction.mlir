// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/4x5xf32/3x5xf32/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=INNER
// RUN: sed 's/{acc = f32}/{acc = f16}/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=ACC
// RUN: sed 's/{acc = f32}/{}/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: sed 's/group = 2/group = 4/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=GROUP
// RUN: sed 's/group = 2 : i64/group = 2 : i32/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=WIDTH
// RUN: sed 's/pads = array<i64: 1, 1, 0, 0>/pads = array<i64: 1, 1>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=PADS
// RUN: sed 's/dilations = array<i64: 1, 1>/dilations = array<i64: 9, 1>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=WINDOW
// RUN: sed 's/array<i32: 1, 1, 1>/array<i32: 1, 2, 0>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SEGMENTS

// CHECK-LABEL: func.func @matmul
// CHECK: "ai.matmul"(%{{.*}}, %{{.*}}) {acc = f32} : (tensor<2x1x3x4xf32>, tensor<7x4x5xf32>) -> tensor<2x7x3x5xf32>
// INNER: error: {{.*}}ai.matmul: the inner dimensions 4 and 3 differ (at 'MatMul_1')
// ACC: error: {{.*}}ai.matmul: acc must be a float type at least as wide as f32, but is f16 (at 'MatMul_1')
// MISSING: error: {{.*}}attribute "acc" is expected but not provided
func.func @matmul(%a: tensor<2x1x3x4xf32>, %b: tensor<7x4x5xf32>) {
  %0 = "ai.matmul"(%a, %b) {acc = f32} : (tensor<2x1x3x4xf32>, tensor<7x4x5xf32>) -> tensor<2x7x3x5xf32> loc("MatMul_1")
  return
}

// CHECK-LABEL: func.func @conv
// CHECK: "ai.conv"(%{{.*}}, %{{.*}}, %{{.*}}) {acc = f32, dilations = array<i64: 1, 1>, group = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 1>} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x4x7xf32>
// CHECK: "ai.conv"(%{{.*}}, %{{.*}}) {acc = f64,{{.*}}} : (tensor<1x1x9xf64>, tensor<2x1x3xf64>) -> tensor<1x2x5xf64>
// GROUP: error: {{.*}}ai.conv: 4 input channels and 6 filters in 4 groups need a weight of [6, 4 / 4, ...]
// WIDTH: error: {{.*}}ai.conv: attribute 'group' must be an integer of type i64, but is 2 : i32 (at 'Conv_2')
// PADS: error: {{.*}}ai.conv: pads must have 4 numbers, but has 2 (at 'Conv_2')
// WINDOW: error: {{.*}}ai.conv: spatial dimension 0: the window spans 19, but the padded input only 9 (at 'Conv_2')
// SEGMENTS: error: {{.*}}ai.conv
func.func @conv(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>, %b: tensor<6xf32>, %u: tensor<1x1x9xf64>, %v: tensor<2x1x3xf64>) {
  %0 = "ai.conv"(%x, %w, %b) {acc = f32, dilations = array<i64: 1, 1>, group = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 1>} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x4x7xf32> loc("Conv_2")
  %1 = "ai.conv"(%u, %v) {acc = f64, dilations = array<i64: 2>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x1x9xf64>, tensor<2x1x3xf64>) -> tensor<1x2x5xf64>
  return
}
