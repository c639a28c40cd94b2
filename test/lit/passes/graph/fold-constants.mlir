// RUN: aiopt -p ai-fold-constants %s | filecheck %s
// RUN: not aiopt -p 'ai-fold-constants{most=1}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: ai-fold-constants has no option 'most' (it has none)

module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi64>, tensor<4xf32>, tensor<2xi1>, tensor<4xf32>,
                                         tensor<4x262144xf32>, tensor<4xf32>) {
    %two = arith.constant dense<2.0> : tensor<4xf32>
    %three = arith.constant dense<3.0> : tensor<f32>
    %row = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %column = arith.constant dense<1.0> : tensor<4x1xf32>

    // Whole chains: (2 * 3) ^ 2, in the IR because it is small and all alike.
    // CHECK-DAG: %[[A:.*]] = arith.constant dense<3.600000e+01> : tensor<4xf32>
    %a0 = "ai.mul"(%two, %three) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %a = "ai.mul"(%a0, %a0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK-DAG: %[[B:.*]] = arith.constant dense<3> : tensor<2xi64>
    %b0 = "ai.cast"(%three) {to = i64} : (tensor<f32>) -> tensor<i64>
    %b = "ai.broadcast_to"(%b0) {shape = array<i64: 2>} : (tensor<i64>) -> tensor<2xi64>

    // Elements that differ go to the weights, under the node's name.
    // CHECK-DAG: %[[C:.*]] = "ai.constant"() {key = "Mul_7"} : () -> tensor<4xf32>
    %c = "ai.mul"(%row, %two) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("Mul_7")

    // CHECK-DAG: %[[D:.*]] = arith.constant dense<true> : tensor<2xi1>
    %d = "ai.cast"(%b) {to = i1} : (tensor<2xi64>) -> tensor<2xi1>

    // Not known, not folded.
    // CHECK-DAG: %[[E:.*]] = "ai.add"(
    %e = "ai.add"(%x, %two) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // 4 MiB out of 16 bytes would only be weight.
    // CHECK-DAG: %[[F:.*]] = "ai.broadcast_to"(
    %f = "ai.broadcast_to"(%column) {shape = array<i64: 4, 262144>} : (tensor<4x1xf32>) -> tensor<4x262144xf32>

    // A constant whose value did not come with the text stays.
    // CHECK-DAG: %[[G:.*]] = "ai.neg"(
    %w = "ai.constant"() {key = "w"} : () -> tensor<4xf32>
    %g = "ai.neg"(%w) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[F]], %[[G]]
    return %a, %b, %c, %d, %e, %f, %g : tensor<4xf32>, tensor<2xi64>, tensor<4xf32>, tensor<2xi1>, tensor<4xf32>,
        tensor<4x262144xf32>, tensor<4xf32>
  }
}
