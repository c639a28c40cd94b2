// RUN: aiopt -p ai-kernels-pipeline %s | filecheck %s
// RUN: aiopt -p 'ai-kernels-pipeline{layout=channels_last}' %s | filecheck %s --check-prefix=LAST
// RUN: aiopt -p ai-kernels-pipeline %s | not aiopt -p ai-kernels-pipeline 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not aiopt -p 'ai-kernels-pipeline{layout=nhwc}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// TWICE: error: {{.*}}takes IR of level graph, but this is kernels
// OPTION: error: ai-assign-layout: option 'layout' must be one of {{.*}}, not 'nhwc'

// What is known is folded, ops are placed on the target and cut into kernels; an input that is returned is copied.
// CHECK: ai.level = "kernels"
// CHECK-LABEL: func.func @main(
// CHECK: %[[POOL:.*]] = call @max_pool_relu_{{[0-9]+}}(%{{[a-z0-9]+}}) {ai.nodes = ["MaxPool_0", "Relu_1"], ai.partition = 0 : i64}
// CHECK: %[[COPY:.*]] = call @identity_{{[0-9]+}}(%{{[a-z0-9]+}})
// CHECK: return %[[POOL]], %[[COPY]]
// CHECK: func.func private @max_pool_relu_{{[0-9]+}}(
// CHECK-SAME: ai.kernel, ai.ops = ["ai.max_pool", "ai.relu"], ai.target = "cpu"

// LAST: ai.relayout
// LAST: "ai.max_pool"({{.*}}layout = "channels_last"
module attributes {ai.level = "graph", ai.net = "net"} {
  func.func @main(%x: tensor<1x2x4x4xf32> {ai.name = "x"}) -> (tensor<1x2x2x2xf32> {ai.name = "y"}, tensor<1x2x4x4xf32> {ai.name = "z"}) {
    %one = arith.constant dense<1.0> : tensor<f32>
    %0 = "ai.max_pool"(%x) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> loc("MaxPool_0")
    %1 = "ai.mul"(%0, %one) : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32> loc("Mul_2")
    %2 = "ai.relu"(%1) : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("Relu_1")
    return %2, %x : tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>
  }
}
