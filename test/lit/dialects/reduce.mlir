// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/axes = array<i64: 0, 2>/axes = array<i64: 2, 0>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=ORDER
// RUN: sed 's/axes = array<i64: 0, 2>/axes = array<i64: 0, 3>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=RANGE
// RUN: sed 's/keepdims = false/keepdims = true/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=KEEPDIMS
// RUN: sed 's/f16/i16/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=FLOAT

// CHECK-LABEL: func.func @main
// CHECK: "ai.reduce_sum"(%{{.*}}) {axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xi32>) -> tensor<3xi32>
// CHECK: "ai.reduce_max"(%{{.*}}) {axes = array<i64: 0>, keepdims = true} : (tensor<3xi32>) -> tensor<1xi32>
// CHECK: "ai.reduce_min"(%{{.*}}) {axes = array<i64>, keepdims = true} : (tensor<1xi32>) -> tensor<1xi32>
// CHECK: "ai.reduce_mean"(%{{.*}}) {axes = array<i64: 0>, keepdims = true} : (tensor<5xf16>) -> tensor<1xf16>
// ORDER: error: {{.*}}ai.reduce_sum: axes must rise strictly, but are [2, 0] (at 'ReduceSum_1')
// RANGE: error: {{.*}}ai.reduce_sum: axis 3 is out of range for rank 3 (axes count from the front) (at 'ReduceSum_1')
// KEEPDIMS: error: {{.*}}ai.reduce_sum: result 'out' has type tensor<3xi32>, but must have tensor<1x3x1xi32>
// FLOAT: error: {{.*}}ai.reduce_mean: operand 'input' must be a tensor of floats, but is tensor<5xi16>
func.func @main(%x: tensor<2x3x4xi32>, %h: tensor<5xf16>) {
  %0 = "ai.reduce_sum"(%x) {axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xi32>) -> tensor<3xi32> loc("ReduceSum_1")
  %1 = "ai.reduce_max"(%0) {axes = array<i64: 0>, keepdims = true} : (tensor<3xi32>) -> tensor<1xi32>
  %2 = "ai.reduce_min"(%1) {axes = array<i64>, keepdims = true} : (tensor<1xi32>) -> tensor<1xi32>
  %3 = "ai.reduce_mean"(%h) {axes = array<i64: 0>, keepdims = true} : (tensor<5xf16>) -> tensor<1xf16>
  return
}
