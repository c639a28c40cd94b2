// RUN: aiopt -p 'ai-group-kernels,ai-outline-kernels' %s | filecheck %s
// RUN: aiopt -p 'ai-group-kernels,ai-outline-kernels,convert-ai-to-linalg,ai-loops-pipeline' %s | filecheck %s --check-prefix=LOOPS
module attributes {ai.level = "graph", ai.net = "net"} {
  // What is inserted and no kernel computes, or what others read too, is copied by a kernel of its own.
  // CHECK: call @insert_0(%arg0)
  // CHECK: call @relu_1(%arg0)
  // CHECK: call @insert_2(
  // CHECK: call @insert_3(
  // LOOPS: func.func @main
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}) -> (tensor<2x12xf32> {ai.name = "y"}) {
    %0 = "ai.insert"(%x) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 12 : i64, start = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x12xf32>
    %1 = "ai.relu"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = "ai.insert"(%1, %0) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 12 : i64, start = 4 : i64} : (tensor<2x4xf32>, tensor<2x12xf32>) -> tensor<2x12xf32>
    %3 = "ai.insert"(%1, %2) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 12 : i64, start = 8 : i64} : (tensor<2x4xf32>, tensor<2x12xf32>) -> tensor<2x12xf32>
    return %3 : tensor<2x12xf32>
  }
}
