// RUN: aiopt -p ai-canonicalize --split-input-file %s | filecheck %s

// A view of what a contraction gives stands behind the elementwise ops that read it, so that one kernel has them all.
module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main
  // CHECK: %[[P:.*]] = "ai.matmul"
  // CHECK: %[[B:.*]] = "ai.add"(%[[P]], %arg2) : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  // CHECK: %[[R:.*]] = "ai.reshape"(%arg3) {shape = array<i64: 6, 4>}
  // CHECK: %[[S:.*]] = "ai.add"(%[[R]], %[[B]])
  // CHECK: %[[T:.*]] = "ai.tanh"(%[[S]]) : (tensor<6x4xf32>)
  // CHECK: %[[U:.*]] = "ai.mul"(%[[S]], %[[T]]) : (tensor<6x4xf32>, tensor<6x4xf32>)
  // CHECK: %[[V:.*]] = "ai.reshape"(%[[U]]) {shape = array<i64: 2, 3, 4>}
  // CHECK: return %[[V]]
  func.func @main(%x: tensor<6x8xf32> {ai.name = "x"}, %w: tensor<8x4xf32> {ai.name = "w"}, %b: tensor<4xf32> {ai.name = "b"}, %r: tensor<2x3x4xf32> {ai.name = "r"}) -> (tensor<2x3x4xf32> {ai.name = "o"}) {
    %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
    %1 = "ai.reshape"(%0) {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
    %2 = "ai.add"(%1, %b) : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    %3 = "ai.add"(%r, %2) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %4 = "ai.tanh"(%3) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %5 = "ai.mul"(%3, %4) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    return %5 : tensor<2x3x4xf32>
  }
}

// -----

module attributes {ai.level = "graph"} {
  // It stays where an operand has another element for each of the view's axes, where something else reads the view, and
  // where the other operand comes from a contraction of its own.
  // CHECK-LABEL: func.func @main
  // CHECK: %[[V:.*]] = "ai.reshape"({{.*}}) {shape = array<i64: 2, 3, 4>}
  // CHECK: "ai.add"(%[[V]], %arg2)
  // CHECK: %[[W:.*]] = "ai.reshape"({{.*}}) {shape = array<i64: 3, 2, 4>}
  // CHECK: "ai.tanh"(%[[W]])
  // CHECK: %[[P:.*]] = "ai.matmul"
  // CHECK: %[[Y:.*]] = "ai.reshape"({{.*}}) {shape = array<i64: 6, 4, 1>}
  // CHECK: "ai.add"(%[[Y]], %[[P]])
  func.func @main(%x: tensor<6x8xf32> {ai.name = "x"}, %w: tensor<8x4xf32> {ai.name = "w"}, %c: tensor<2x1x4xf32> {ai.name = "c"}, %y: tensor<6x4x8xf32> {ai.name = "y"}, %z: tensor<8x1xf32> {ai.name = "z"}) -> (tensor<2x3x4xf32> {ai.name = "o0"}, tensor<3x2x4xf32> {ai.name = "o1"}, tensor<3x2x4xf32> {ai.name = "o2"}, tensor<6x4x1xf32> {ai.name = "o3"}) {
    %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
    %1 = "ai.reshape"(%0) {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
    %2 = "ai.add"(%1, %c) : (tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
    %3 = "ai.reshape"(%0) {shape = array<i64: 3, 2, 4>} : (tensor<6x4xf32>) -> tensor<3x2x4xf32>
    %4 = "ai.tanh"(%3) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
    %5 = "ai.matmul"(%y, %z) {acc = f32} : (tensor<6x4x8xf32>, tensor<8x1xf32>) -> tensor<6x4x1xf32>
    %6 = "ai.reshape"(%0) {shape = array<i64: 6, 4, 1>} : (tensor<6x4xf32>) -> tensor<6x4x1xf32>
    %7 = "ai.add"(%6, %5) : (tensor<6x4x1xf32>, tensor<6x4x1xf32>) -> tensor<6x4x1xf32>
    return %2, %4, %3, %7 : tensor<2x3x4xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>, tensor<6x4x1xf32>
  }
}
