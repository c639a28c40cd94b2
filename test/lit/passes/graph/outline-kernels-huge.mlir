// RUN: aiopt -p ai-group-kernels,ai-outline-kernels %s | filecheck %s

// 2^67 operations are more than the attribute holds.
// CHECK: func.func private @matmul_0(
// CHECK-SAME: ai.bytes = 140737488355328 : i64, ai.flops = 9223372036854775807 : i64
module attributes {ai.level = "graph"} {
  func.func @main(%x: tensor<4194304x4194304xf32> {ai.name = "x"}) -> (tensor<4194304x4194304xf32> {ai.name = "y"}) {
    %0 = "ai.matmul"(%x, %x) {acc = f32} : (tensor<4194304x4194304xf32>, tensor<4194304x4194304xf32>) -> tensor<4194304x4194304xf32>
    return %0 : tensor<4194304x4194304xf32>
  }
}
