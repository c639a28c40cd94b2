// RUN: aiopt -p ai-canonicalize %s | filecheck %s
// RUN: not aiopt -p 'ai-canonicalize{level=2}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: ai-canonicalize has no option 'level' (it has none)

module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3x4xf32>, %[[I:[a-z0-9]+]]: tensor<4xi32>
  func.func @main(%x: tensor<2x3x4xf32>, %i: tensor<4xi32>) -> (
      tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xi32>, tensor<2x3x4xf32>, tensor<4x3x2xf32>, tensor<24xf32>,
      tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
    %one = arith.constant dense<1.0> : tensor<f32>
    %two = arith.constant dense<2.0> : tensor<1xf32>
    %zero = arith.constant dense<0.0> : tensor<f32>
    %minus_zero = arith.constant dense<-0.0> : tensor<1x1xf32>
    %none = arith.constant dense<0> : tensor<4xi32>

    // Nothing remains of these but x itself.
    // CHECK-NOT: ai.identity
    // CHECK-NOT: ai.div
    // CHECK-NOT: ai.sub
    // CHECK-NOT: ai.concat
    // CHECK-NOT: ai.slice
    %a0 = "ai.identity"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %a1 = "ai.cast"(%a0) {to = f32} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %a2 = "ai.mul"(%one, %a1) : (tensor<f32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %a3 = "ai.div"(%a2, %one) : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
    %a4 = "ai.sub"(%a3, %zero) : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
    %a5 = "ai.add"(%a4, %minus_zero) : (tensor<2x3x4xf32>, tensor<1x1xf32>) -> tensor<2x3x4xf32>
    %a6 = "ai.pow"(%a5, %one) : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
    %a7 = "ai.concat"(%a6) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>}
        : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %a8 = "ai.slice"(%a7) {starts = array<i64: 0, 0, 0>, sizes = array<i64: 2, 3, 4>, steps = array<i64: 1, 1, 1>}
        : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %a9 = "ai.broadcast_to"(%a8) {shape = array<i64: 2, 3, 4>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %a10 = "ai.neg"(%a9) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %a = "ai.neg"(%a10) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>

    // CHECK: %[[RELU:.*]] = "ai.relu"(%[[X]])
    // CHECK-NOT: ai.relu
    %b0 = "ai.relu"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %b = "ai.relu"(%b0) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>

    // Integers have one zero.
    %c = "ai.add"(%i, %none) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

    // CHECK: %[[SQUARE:.*]] = "ai.mul"(%[[X]], %[[X]])
    %d = "ai.pow"(%x, %two) : (tensor<2x3x4xf32>, tensor<1xf32>) -> tensor<2x3x4xf32>

    // Two transposes are one; the permutation is the composed one.
    // CHECK: %[[TRANSPOSE:.*]] = "ai.transpose"(%[[X]]) {permutation = array<i64: 2, 1, 0>}
    %e0 = "ai.transpose"(%x) {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
    %e = "ai.transpose"(%e0) {permutation = array<i64: 0, 2, 1>} : (tensor<4x2x3xf32>) -> tensor<4x3x2xf32>

    // A transpose that moves a 1 is a reshape, and reshapes melt into one.
    // CHECK: %[[FLAT:.*]] = "ai.reshape"(%[[X]]) {shape = array<i64: 24>}
    %f0 = "ai.reshape"(%x) {shape = array<i64: 6, 1, 4>} : (tensor<2x3x4xf32>) -> tensor<6x1x4xf32>
    %f1 = "ai.transpose"(%f0) {permutation = array<i64: 1, 0, 2>} : (tensor<6x1x4xf32>) -> tensor<1x6x4xf32>
    %f = "ai.reshape"(%f1) {shape = array<i64: 24>} : (tensor<1x6x4xf32>) -> tensor<24xf32>

    // And back: nothing.
    %g0 = "ai.reshape"(%f) {shape = array<i64: 4, 6>} : (tensor<24xf32>) -> tensor<4x6xf32>
    %g = "ai.reshape"(%g0) {shape = array<i64: 2, 3, 4>} : (tensor<4x6xf32>) -> tensor<2x3x4xf32>

    // Binary ops broadcast by themselves.
    // CHECK: %[[MAX:.*]] = "ai.maximum"(%[[X]], %{{.*}}) : (tensor<2x3x4xf32>, tensor<1xf32>)
    %h0 = "ai.broadcast_to"(%two) {shape = array<i64: 3, 4>} : (tensor<1xf32>) -> tensor<3x4xf32>
    %h = "ai.maximum"(%x, %h0) : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>

    // CHECK: return %[[X]], %[[RELU]], %[[I]], %[[SQUARE]], %[[TRANSPOSE]], %[[FLAT]], %[[X]], %[[MAX]]
    return %a, %b, %c, %d, %e, %f, %g, %h : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xi32>, tensor<2x3x4xf32>,
        tensor<4x3x2xf32>, tensor<24xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  }
}
