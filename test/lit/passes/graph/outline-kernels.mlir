// RUN: aiopt -p ai-group-kernels,ai-outline-kernels %s | filecheck %s
// RUN: not aiopt -p ai-outline-kernels %s 2>&1 | filecheck %s --check-prefix=GROUP
// RUN: not aiopt -p ai-group-kernels,ai-outline-kernels,ai-outline-kernels %s 2>&1 | filecheck %s --check-prefix=LEVEL
// GROUP: error: 'ai.matmul' (at 'MatMul_0') has no ai.group: run ai-group-kernels before ai-outline-kernels
// LEVEL: error: ai-outline-kernels takes IR of level graph, but this is kernels

module attributes {ai.level = "graph"} {
  // CHECK: module attributes {ai.level = "kernels"
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x4xf32> {ai.name = "x"}
  func.func @main(%x: tensor<4x4xf32> {ai.name = "x"}) -> (
      tensor<4x4xf32> {ai.name = "y"}, tensor<16xf32> {ai.name = "flat"}, tensor<4x4xf32> {ai.name = "again"},
      tensor<4x4xf32> {ai.name = "input"}, tensor<2xf32> {ai.name = "constant"}) {
    // CHECK: %[[W:.*]] = "ai.constant"() {key = "w"}
    %w = "ai.constant"() {key = "w"} : () -> tensor<4x4xf32>
    %one = arith.constant dense<1.0> : tensor<f32>
    %two = arith.constant dense<2.0> : tensor<2xf32>
    // Equal kernels are one function.
    // CHECK: %[[A:.*]] = call @matmul_add_0(%[[X]], %[[W]]) {ai.nodes = ["MatMul_0", "Add_1"]}
    %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("MatMul_0")
    %1 = "ai.add"(%0, %one) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32> loc("Add_1")
    // CHECK: %[[Y:.*]] = call @matmul_add_0(%[[A]], %[[X]]) {ai.nodes = ["MatMul_2", "Add_3"]}
    %2 = "ai.matmul"(%1, %x) {acc = f32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("MatMul_2")
    %3 = "ai.add"(%2, %one) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32> loc("Add_3")
    // Each returned value gets a buffer of its own.
    // CHECK: %[[VIEW:.*]] = "ai.reshape"(%[[Y]])
    // CHECK: %[[FLAT:.*]] = call @identity_1(%[[VIEW]]) {ai.nodes = ["Flatten_4"]}
    // CHECK: %[[AGAIN:.*]] = call @identity_2(%[[Y]])
    // CHECK: %[[INPUT:.*]] = call @identity_2(%[[X]])
    // CHECK: %[[CONSTANT:.*]] = call @identity_3()
    // CHECK: return %[[Y]], %[[FLAT]], %[[AGAIN]], %[[INPUT]], %[[CONSTANT]]
    %4 = "ai.reshape"(%3) {shape = array<i64: 16>} : (tensor<4x4xf32>) -> tensor<16xf32> loc("Flatten_4")
    return %3, %4, %3, %x, %two : tensor<4x4xf32>, tensor<16xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>
  }
  // 2 * 4*4*4 + 4*4 operations on 3 * 64 bytes.
  // CHECK: func.func private @matmul_add_0(%[[L:.*]]: tensor<4x4xf32>, %[[R:.*]]: tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-SAME: ai.bytes = 192 : i64, ai.flops = 144 : i64, ai.kernel, ai.ops = ["ai.matmul", "ai.add"]
  // CHECK: %[[C:.*]] = arith.constant dense<1.000000e+00>
  // CHECK: %[[M:.*]] = "ai.matmul"(%[[L]], %[[R]]) {acc = f32} :
  // CHECK: %[[S:.*]] = "ai.add"(%[[M]], %[[C]]) :
  // CHECK: return %[[S]]
  // CHECK: func.func private @identity_1(
  // CHECK: func.func private @identity_2(
  // CHECK: func.func private @identity_3() -> tensor<2xf32>
  // CHECK: arith.constant dense<2.000000e+00>
}
