// RUN: aiopt -p ai-assign-target %s | filecheck %s
// RUN: aiopt -p 'ai-kernels-pipeline' %s | filecheck %s --check-prefix=KERNELS
// RUN: aiopt -p 'ai-assign-target{target=npu,cpu deny=npu:ai.relu}' %s | filecheck %s --check-prefix=WHY
// RUN: aiopt -p 'ai-kernels-pipeline{target=npu,cpu}' %s | filecheck %s --check-prefix=CALL
// RUN: not aiopt -p 'ai-assign-target{deny=cpu:ai.softmax}' %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not aiopt -p 'ai-assign-target{target=tpu}' %s 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not aiopt -p 'ai-assign-target{deny=ai.relu}' %s 2>&1 | filecheck %s --check-prefix=DENY
// RUN: not aiopt -p 'ai-assign-target{deny=cpu:ai.softmix}' %s 2>&1 | filecheck %s --check-prefix=OP
// NONE: error: ai-assign-target: no target of cpu runs ai.softmax (at 'Softmax_1'): cpu: denied
// TARGET: error: ai-assign-target: option 'target' names no target 'tpu' (there are: cpu, npu)
// DENY: error: ai-assign-target: option 'deny' takes target:op with a known target, not 'ai.relu'
// OP: error: ai-assign-target: option 'deny' names no op 'ai.softmix'

// WHY: "ai.relu"({{.*}} {ai.partition = 0 : i64, ai.target = "cpu", ai.why = "npu: ai.relu: denied"}
// WHY: "ai.softmax"({{.*}}ai.target = "cpu", ai.why = "npu: ai.softmax: the NPU has no instruction for it"
// CALL: call @softmax_{{[0-9]}}({{.*}}ai.why = "npu: ai.softmax: the NPU has no instruction for it"
// CALL: func.func private @softmax_
// CALL-NOT: ai.why
// KERNELS: call @relu_{{[0-9]}}({{.*}}ai.partition = 0 : i64
// KERNELS: func.func private @relu_{{.*}}ai.target = "cpu"
// KERNELS-NOT: "ai.relu"{{.*}}ai.target
module attributes {ai.level = "graph"} {
  // Constants are placed nowhere; views are.
  // CHECK: arith.constant dense
  // CHECK: "ai.relu"({{.*}} {ai.partition = 0 : i64, ai.target = "cpu"}
  // CHECK: "ai.reshape"({{.*}} {ai.partition = 0 : i64, ai.target = "cpu", shape = array<i64: 8>}
  // CHECK: "ai.softmax"({{.*}} {ai.partition = 0 : i64, ai.target = "cpu", axis = 0 : i64}
  func.func @main(%x: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<2x4xf32>) {
    %c = arith.constant dense<2.0> : tensor<1xf32>
    %0 = "ai.relu"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("Relu_0")
    %1 = "ai.reshape"(%0) {shape = array<i64: 8>} : (tensor<2x4xf32>) -> tensor<8xf32>
    %2 = "ai.softmax"(%1) {axis = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32> loc("Softmax_1")
    %3 = "ai.mul"(%0, %c) : (tensor<2x4xf32>, tensor<1xf32>) -> tensor<2x4xf32> loc("Mul_2")
    return %2, %3 : tensor<8xf32>, tensor<2x4xf32>
  }
}
