// RUN: aiopt -p ai-dce %s | filecheck %s
// RUN: not aiopt -p 'ai-dce{most=1}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: ai-dce has no option 'most' (it has none)

module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // A chain without use goes, with the constant that it alone reads.
    // CHECK-NOT: ai.exp
    // CHECK-NOT: dead
    %0 = "ai.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %w = "ai.constant"() {key = "dead"} : () -> tensor<4xf32>
    %1 = "ai.mul"(%0, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK: %[[W:.*]] = "ai.constant"() {key = "alive"}
    // CHECK-NEXT: %[[ADD:.*]] = "ai.add"(%{{.*}}, %[[W]])
    // CHECK-NEXT: return %[[ADD]]
    %v = "ai.constant"() {key = "alive"} : () -> tensor<4xf32>
    %2 = "ai.add"(%x, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = arith.constant dense<1.0> : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
