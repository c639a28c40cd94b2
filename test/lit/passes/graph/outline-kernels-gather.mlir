// RUN: aiopt -p ai-group-kernels,ai-outline-kernels %s | filecheck %s
// Two steps that take different rows of a tensor are one kernel: the place is an argument, other constants are inside.

module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main(
  func.func @main(%x: tensor<3x4xf32> {ai.name = "x"}) -> (tensor<4xf32> {ai.name = "y"}, tensor<4xf32> {ai.name = "z"}) {
    // CHECK: %[[FIRST:.*]] = arith.constant dense<0> : tensor<i64>
    // CHECK: call @[[KERNEL:.*]](%{{.*}}, %[[FIRST]])
    // CHECK: %[[LAST:.*]] = arith.constant dense<2> : tensor<i64>
    // CHECK: call @[[KERNEL]](%{{.*}}, %[[LAST]])
    %one = arith.constant dense<1.0> : tensor<f32>
    %first = arith.constant dense<0> : tensor<i64>
    %0 = "ai.gather"(%x, %first) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<i64>) -> tensor<4xf32>
    %1 = "ai.add"(%0, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %last = arith.constant dense<2> : tensor<i64>
    %2 = "ai.gather"(%x, %last) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<i64>) -> tensor<4xf32>
    %3 = "ai.add"(%2, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    return %1, %3 : tensor<4xf32>, tensor<4xf32>
  }
  // CHECK: func.func private @[[KERNEL]](%{{.*}}: tensor<3x4xf32>, %{{.*}}: tensor<i64>) -> tensor<4xf32>
  // CHECK: arith.constant dense<1.000000e+00>
  // CHECK-NOT: func.func private
}
