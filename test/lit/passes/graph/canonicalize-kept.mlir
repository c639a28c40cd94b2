// RUN: aiopt -p ai-canonicalize %s | filecheck %s

// What looks like nothing but is not: each would change a zero's sign, a NaN, an infinity or a shape.
module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main
  func.func @main(%x: tensor<4xf32>) -> (
      tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %minus_zero = arith.constant dense<-0.0> : tensor<f32>
    %half = arith.constant dense<0.5> : tensor<f32>
    %ones = arith.constant dense<1.0> : tensor<2x4xf32>
    %one = arith.constant dense<1.0> : tensor<f32>
    // CHECK: ai.add
    %a = "ai.add"(%x, %zero) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    // CHECK: ai.sub
    %b = "ai.sub"(%x, %minus_zero) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    // CHECK: ai.pow
    %c = "ai.pow"(%x, %half) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    // CHECK: ai.mul
    %d = "ai.mul"(%x, %ones) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    // CHECK: ai.mul
    %e = "ai.mul"(%x, %zero) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    // CHECK: ai.div
    %f = "ai.div"(%one, %x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK: ai.slice
    %g = "ai.slice"(%x) {starts = array<i64: 3>, sizes = array<i64: 4>, steps = array<i64: -1>}
        : (tensor<4xf32>) -> tensor<4xf32>
    return %a, %b, %c, %d, %e, %f, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>, tensor<4xf32>,
        tensor<4xf32>, tensor<4xf32>
  }
}
