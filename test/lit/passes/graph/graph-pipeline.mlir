// RUN: aiopt -p ai-graph-pipeline %s | filecheck %s
// RUN: aiopt -p ai-graph-pipeline,ai-group-kernels,ai-outline-kernels %s | filecheck %s --check-prefix=KERNELS
// RUN: not aiopt -p 'ai-graph-pipeline{level=2}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not aiopt -p 'ai-graph-pipeline,func.func(ai-graph-pipeline)' %s 2>&1 | filecheck %s --check-prefix=NESTED
// OPTION: error: ai-graph-pipeline has no option 'level' (it has none)
// NESTED: error: ai-canonicalize works on a whole module and cannot stand inside func.func(...)

module attributes {ai.level = "graph"} {
  // conv, batch_norm with computed parameters and relu: one op and its activation, in one kernel.
  // CHECK-LABEL: func.func @main
  // CHECK: %[[C:.*]] = "ai.conv"
  // CHECK-NEXT: %[[R:.*]] = "ai.relu"(%[[C]])
  // CHECK-NEXT: return %[[R]]
  // KERNELS: %[[K:.*]] = call @conv_relu_0(%{{[a-z0-9]+}}) {ai.nodes = ["Conv_0", "BatchNormalization_1", "Relu_2"]}
  // KERNELS-NEXT: return %[[K]]
  func.func @main(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
    %w = arith.constant dense<0.5> : tensor<2x2x1x1xf32>
    %three = arith.constant dense<3.0> : tensor<f32>
    %p = "ai.broadcast_to"(%three) {shape = array<i64: 2>} : (tensor<f32>) -> tensor<2xf32>
    %q = "ai.neg"(%p) : (tensor<2xf32>) -> tensor<2xf32>
    %0 = "ai.identity"(%x) : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> loc("Identity_9")
    %1 = "ai.conv"(%0, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32> loc("Conv_0")
    %2 = "ai.batch_norm"(%1, %p, %q, %p, %p) {epsilon = 1.0 : f64} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32> loc("BatchNormalization_1")
    %3 = "ai.relu"(%2) : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> loc("Relu_2")
    return %3 : tensor<1x2x3x3xf32>
  }
}
