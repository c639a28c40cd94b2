// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/tensor<3xf32>/tensor<2xf32>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: sed 's/-> tensor<5xi1>/-> tensor<5xi64>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=RESULT
// RUN: sed 's/tensor<4xi1>/tensor<4xf32>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=TRUTH

// CHECK-LABEL: func.func @compare
// CHECK: "ai.equal"(%{{.*}}, %{{.*}}) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
// CHECK: "ai.less"
// CHECK: "ai.less_equal"
// CHECK: "ai.select"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// SHAPE: error: {{.*}}ai.equal: the shapes [2, 3] and [2] do not broadcast (at 'Equal_1')
// RESULT: error: {{.*}}ai.less: result 'out' must be a tensor of bools, but is tensor<5xi64>
func.func @compare(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %a: tensor<5xi64>) {
  %0 = "ai.equal"(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1> loc("Equal_1")
  %1 = "ai.less"(%a, %a) : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
  %2 = "ai.less_equal"(%a, %a) : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
  %3 = "ai.select"(%0, %x, %y) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @truth
// CHECK: "ai.and"
// CHECK: "ai.or"
// CHECK: "ai.xor"
// CHECK: "ai.not"
// TRUTH: error: {{.*}}ai.and: operand 'lhs' must be a tensor of bools or integers, but is tensor<4xf32> (at 'And_2')
func.func @truth(%p: tensor<4xi1>, %q: tensor<4xi1>) {
  %0 = "ai.and"(%p, %q) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1> loc("And_2")
  %1 = "ai.or"(%p, %q) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %2 = "ai.xor"(%0, %1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %3 = "ai.not"(%2) : (tensor<4xi1>) -> tensor<4xi1>
  return
}
