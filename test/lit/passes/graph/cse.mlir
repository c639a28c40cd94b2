// RUN: aiopt -p ai-cse --mlir-print-debuginfo %s | filecheck %s
// RUN: not aiopt -p 'ai-cse{most=1}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: ai-cse has no option 'most' (it has none)

module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME: %[[X:[a-z0-9]+]]:
  func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x1xf32>,
                                           tensor<1x4xf32>) {
    // Equal constants are one, then so are the ops that read them; both nodes are remembered.
    // CHECK: %[[W:.*]] = "ai.constant"() {key = "w"}
    // CHECK-NOT: ai.constant
    %w0 = "ai.constant"() {key = "w"} : () -> tensor<4x4xf32>
    %w1 = "ai.constant"() {key = "w"} : () -> tensor<4x4xf32>
    // CHECK: %[[A:.*]] = "ai.add"(%[[X]], %[[W]]) {{.*}} loc(#[[FUSED:.*]])
    // CHECK-NOT: ai.add
    %a = "ai.add"(%x, %w0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("Add_0")
    %b = "ai.add"(%x, %w1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("Add_1")
    // Another order of operands or another attribute is another op.
    // CHECK: %[[S:.*]] = "ai.sub"(%[[X]], %[[W]])
    // CHECK: %[[T:.*]] = "ai.sub"(%[[W]], %[[X]])
    %s = "ai.sub"(%x, %w0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %t = "ai.sub"(%w0, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %p = "ai.mul"(%s, %t) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK: ai.reduce_sum
    // CHECK: ai.reduce_sum
    %r = "ai.reduce_sum"(%x) {axes = array<i64: 1>, keepdims = true} : (tensor<4x4xf32>) -> tensor<4x1xf32>
    %q = "ai.reduce_sum"(%x) {axes = array<i64: 0>, keepdims = true} : (tensor<4x4xf32>) -> tensor<1x4xf32>
    // CHECK: return %[[A]], %[[A]],
    return %a, %b, %p, %r, %q : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x1xf32>, tensor<1x4xf32>
  }
}
// CHECK-DAG: #[[FIRST:.*]] = loc("Add_0")
// CHECK-DAG: #[[SECOND:.*]] = loc("Add_1")
// CHECK: #[[FUSED]] = loc(fused[#[[FIRST]], #[[SECOND]]])
