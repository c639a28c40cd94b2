// RUN: aiopt -p ai-group-kernels,ai-outline-kernels,ai-select-route %s | filecheck %s

// A slice that two transposes read goes to the kernels of the products that read these; a product may be stored both in
// another order and as a part of a larger tensor.
// CHECK: call @matmul_insert_0(%arg0, %arg1)
// CHECK: call @matmul_insert_1(%arg0, %arg2, %0)
// CHECK-NOT: call
// CHECK: @matmul_insert_0
// CHECK-SAME: ai.ops = ["ai.slice", "ai.transpose", "ai.matmul", "ai.transpose", "ai.insert"]
// CHECK-SAME: ai.template = {{{.*}}name = "matmul"
// CHECK: @matmul_insert_1
// CHECK-SAME: ai.ops = ["ai.slice", "ai.transpose", "ai.matmul", "ai.transpose", "ai.insert"]
// CHECK-SAME: ai.template = {{{.*}}name = "matmul"
module attributes {ai.level = "graph", ai.net = "net"} {
  func.func @main(%x: tensor<6x2x16xf32> {ai.name = "x"}, %v: tensor<2x6x8xf32> {ai.name = "v"}, %w: tensor<2x8x6xf32> {ai.name = "w"}) -> (tensor<8x2x16xf32> {ai.name = "y"}) {
    %0 = "ai.slice"(%x) {starts = array<i64: 0, 0, 8>, sizes = array<i64: 6, 2, 8>, steps = array<i64: 1, 1, 1>} : (tensor<6x2x16xf32>) -> tensor<6x2x8xf32>
    %1 = "ai.transpose"(%0) {permutation = array<i64: 1, 2, 0>} : (tensor<6x2x8xf32>) -> tensor<2x8x6xf32>
    %2 = "ai.transpose"(%0) {permutation = array<i64: 1, 0, 2>} : (tensor<6x2x8xf32>) -> tensor<2x6x8xf32>
    %3 = "ai.matmul"(%1, %v) {acc = f32} : (tensor<2x8x6xf32>, tensor<2x6x8xf32>) -> tensor<2x8x8xf32>
    %4 = "ai.transpose"(%3) {permutation = array<i64: 1, 0, 2>} : (tensor<2x8x8xf32>) -> tensor<8x2x8xf32>
    %5 = "ai.insert"(%4) {axis = 2 : i64, operandSegmentSizes = array<i32: 1, 0>, start = 8 : i64, size = 16 : i64} : (tensor<8x2x8xf32>) -> tensor<8x2x16xf32>
    %6 = "ai.matmul"(%w, %2) {acc = f32} : (tensor<2x8x6xf32>, tensor<2x6x8xf32>) -> tensor<2x8x8xf32>
    %7 = "ai.transpose"(%6) {permutation = array<i64: 1, 0, 2>} : (tensor<2x8x8xf32>) -> tensor<8x2x8xf32>
    %8 = "ai.insert"(%7, %5) {axis = 2 : i64, operandSegmentSizes = array<i32: 1, 1>, start = 0 : i64, size = 16 : i64} : (tensor<8x2x8xf32>, tensor<8x2x16xf32>) -> tensor<8x2x16xf32>
    return %8 : tensor<8x2x16xf32>
  }
}
