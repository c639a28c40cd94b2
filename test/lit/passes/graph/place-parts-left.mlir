// RUN: aiopt -p ai-place-parts --remarks-filter='.*' %s 2>&1 | filecheck %s
// What cannot be placed stays a concat, and a remark says why.
// CHECK-DAG: did not place the parts of Input: one of them is what no kernel computes
// CHECK-DAG: did not place the parts of Twice: it has one of them twice
// CHECK-DAG: did not place the parts of Middle: its axis is neither the last nor the first of more than one
// CHECK-DAG: did not place the parts of Read: Soft reads one of them, too
module attributes {ai.level = "graph"} {
  func.func @main(%x: tensor<2x4x3xf32> {ai.name = "x"}) -> (tensor<2x4x6xf32> {ai.name = "a"}, tensor<2x4x6xf32> {ai.name = "b"}, tensor<2x8x3xf32> {ai.name = "c"}, tensor<2x4x6xf32> {ai.name = "d"}, tensor<2x4x3xf32> {ai.name = "e"}) {
    %0 = "ai.relu"(%x) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    %1 = "ai.concat"(%x, %0) {axis = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>} : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x6xf32> loc("Input")
    %2 = "ai.exp"(%x) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    %3 = "ai.concat"(%2, %2) {axis = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>} : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x6xf32> loc("Twice")
    %4 = "ai.sin"(%x) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    %5 = "ai.cos"(%x) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    %6 = "ai.concat"(%4, %5) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>} : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x8x3xf32> loc("Middle")
    %7 = "ai.tanh"(%x) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    %8 = "ai.neg"(%x) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    %9 = "ai.concat"(%7, %8) {axis = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>} : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x6xf32> loc("Read")
    %10 = "ai.softmax"(%7) {axis = 2 : i64} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32> loc("Soft")
    return %1, %3, %6, %9, %10 : tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x8x3xf32>, tensor<2x4x6xf32>, tensor<2x4x3xf32>
  }
}
