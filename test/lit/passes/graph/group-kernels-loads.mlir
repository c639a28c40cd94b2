// RUN: aiopt -p ai-group-kernels,ai-outline-kernels,ai-select-route %s | filecheck %s

// A slice that two transposes read goes to the kernels of the products that read these.
// CHECK: call @matmul_0(%arg0, %arg1)
// CHECK: call @matmul_1(%arg0, %arg2)
// CHECK-NOT: call
// CHECK: @matmul_0
// CHECK-SAME: ai.ops = ["ai.slice", "ai.transpose", "ai.matmul"]
// CHECK-SAME: ai.template = {{{.*}}name = "matmul"
// CHECK: @matmul_1
// CHECK-SAME: ai.ops = ["ai.slice", "ai.transpose", "ai.matmul"]
// CHECK-SAME: ai.template = {{{.*}}name = "matmul"
module attributes {ai.level = "graph", ai.net = "net"} {
  func.func @main(%x: tensor<6x2x16xf32> {ai.name = "x"}, %v: tensor<2x6x8xf32> {ai.name = "v"}, %w: tensor<2x8x6xf32> {ai.name = "w"}) -> (tensor<2x8x8xf32> {ai.name = "y"}, tensor<2x8x8xf32> {ai.name = "z"}) {
    %0 = "ai.slice"(%x) {starts = array<i64: 0, 0, 8>, sizes = array<i64: 6, 2, 8>, steps = array<i64: 1, 1, 1>} : (tensor<6x2x16xf32>) -> tensor<6x2x8xf32>
    %1 = "ai.transpose"(%0) {permutation = array<i64: 1, 2, 0>} : (tensor<6x2x8xf32>) -> tensor<2x8x6xf32>
    %2 = "ai.transpose"(%0) {permutation = array<i64: 1, 0, 2>} : (tensor<6x2x8xf32>) -> tensor<2x6x8xf32>
    %3 = "ai.matmul"(%1, %v) {acc = f32} : (tensor<2x8x6xf32>, tensor<2x6x8xf32>) -> tensor<2x8x8xf32>
    %4 = "ai.matmul"(%w, %2) {acc = f32} : (tensor<2x8x6xf32>, tensor<2x6x8xf32>) -> tensor<2x8x8xf32>
    return %3, %4 : tensor<2x8x8xf32>, tensor<2x8x8xf32>
  }
}
