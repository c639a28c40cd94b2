// RUN: aiopt -p 'ai-group-kernels,ai-outline-kernels,ai-expose-kernels' %s | filecheck %s
// RUN: not aiopt -p 'ai-expose-kernels' %s 2>&1 | filecheck %s --check-prefix=LEVEL
// LEVEL: error: ai-expose-kernels

// The relu is read by two kernels, so it is one; it gets an output, what is returned already does not get a second.
// CHECK: func.func @main({{.*}}) -> (tensor<4x4xf32> {ai.name = "y"}, tensor<4xf32> {ai.name = "z"}, tensor<4x4xf32> {ai.name = "kernel.0"})
// CHECK: %[[R:.*]] = call @relu_0
// CHECK: %[[Y:.*]] = call @transpose_1(%[[R]])
// CHECK: %[[Z:.*]] = call @reduce_sum_2(%[[R]])
// CHECK: return %[[Y]], %[[Z]], %[[R]]
module attributes {ai.level = "graph", ai.net = "net"} {
  func.func @main(%x: tensor<4x4xf32> {ai.name = "x"}) -> (tensor<4x4xf32> {ai.name = "y"}, tensor<4xf32> {ai.name = "z"}) {
    %r = "ai.relu"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = "ai.transpose"(%r) {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %z = "ai.reduce_sum"(%r) {axes = array<i64: 0>, keepdims = false} : (tensor<4x4xf32>) -> tensor<4xf32>
    return %y, %z : tensor<4x4xf32>, tensor<4xf32>
  }
}
