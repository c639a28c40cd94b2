// RUN: aiopt -p ai-canonicalize %s | filecheck %s

// A reshape that splits the axis that is sliced, into whole parts, goes before the slice: heads of queries and keys are
// then slices of one tensor. Parts that the slice would cut stay as they are.
module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main
  func.func @main(%x: tensor<2x36xf32>) -> (tensor<2x3x4xf32>, tensor<2x2x6xf32>) {
    // CHECK: %[[PARTS:.*]] = "ai.reshape"(%arg0) {shape = array<i64: 2, 9, 4>}
    // CHECK: "ai.slice"(%[[PARTS]]) {sizes = array<i64: 2, 3, 4>, starts = array<i64: 0, 3, 0>, steps = array<i64: 1, 1, 1>}
    %0 = "ai.slice"(%x) {starts = array<i64: 0, 12>, sizes = array<i64: 2, 12>, steps = array<i64: 1, 1>} : (tensor<2x36xf32>) -> tensor<2x12xf32>
    %1 = "ai.reshape"(%0) {shape = array<i64: 2, 3, 4>} : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
    // CHECK: %[[CUT:.*]] = "ai.slice"(%arg0) {sizes = array<i64: 2, 12>, starts = array<i64: 0, 10>
    // CHECK: "ai.reshape"(%[[CUT]]) {shape = array<i64: 2, 2, 6>}
    %2 = "ai.slice"(%x) {starts = array<i64: 0, 10>, sizes = array<i64: 2, 12>, steps = array<i64: 1, 1>} : (tensor<2x36xf32>) -> tensor<2x12xf32>
    %3 = "ai.reshape"(%2) {shape = array<i64: 2, 2, 6>} : (tensor<2x12xf32>) -> tensor<2x2x6xf32>
    return %1, %3 : tensor<2x3x4xf32>, tensor<2x2x6xf32>
  }
}
