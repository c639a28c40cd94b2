// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/tensor<3xf32>/tensor<2xf32>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: sed 's/tensor<3xf32>/tensor<3xf64>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: sed 's/i64/i1/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=BOOL
// RUN: sed 's/f16/i16/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=POW

// CHECK-LABEL: func.func @broadcast
// CHECK: "ai.add"(%{{.*}}, %{{.*}}) : (tensor<2x1x3xf32>, tensor<3xf32>) -> tensor<2x1x3xf32>
// CHECK: "ai.sub"(%{{.*}}, %{{.*}}) : (tensor<4x1xf32>, tensor<2x1x3xf32>) -> tensor<2x4x3xf32>
// CHECK: "ai.mul"
// SHAPE: error: {{.*}}ai.add: the shapes [2, 1, 3] and [2] do not broadcast (at 'Add_1')
// TYPE: error: {{.*}}ai.add: the operands must have one element type (lhs: f32, rhs: f64) (at 'Add_1')
func.func @broadcast(%x: tensor<2x1x3xf32>, %row: tensor<3xf32>, %column: tensor<4x1xf32>, %s: tensor<f32>) {
  %0 = "ai.add"(%x, %row) : (tensor<2x1x3xf32>, tensor<3xf32>) -> tensor<2x1x3xf32> loc("Add_1")
  %1 = "ai.sub"(%column, %0) : (tensor<4x1xf32>, tensor<2x1x3xf32>) -> tensor<2x4x3xf32>
  %2 = "ai.mul"(%s, %1) : (tensor<f32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return
}

// CHECK-LABEL: func.func @integers
// CHECK: "ai.div"
// CHECK: "ai.maximum"
// CHECK: "ai.minimum"
// BOOL: error: {{.*}}ai.div: operand 'lhs' must be a tensor of numbers, but is tensor<i1> (at 'Div_2')
func.func @integers(%a: tensor<i64>, %b: tensor<i64>) {
  %0 = "ai.div"(%a, %b) : (tensor<i64>, tensor<i64>) -> tensor<i64> loc("Div_2")
  %1 = "ai.maximum"(%0, %b) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %2 = "ai.minimum"(%1, %b) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return
}

// CHECK-LABEL: func.func @pow
// CHECK: "ai.pow"
// POW: error: {{.*}}ai.pow: operand 'lhs' must be a tensor of floats, but is tensor<2xi16> (at 'Pow_3')
func.func @pow(%x: tensor<2xf16>) {
  %0 = "ai.pow"(%x, %x) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16> loc("Pow_3")
  return
}
