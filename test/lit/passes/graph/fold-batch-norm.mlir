// RUN: aiopt -p ai-fold-batch-norm %s | filecheck %s
// RUN: not aiopt -p 'ai-fold-batch-norm{most=1}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: ai-fold-batch-norm has no option 'most' (it has none)

module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x2x3x3xf32>
  func.func @main(%x: tensor<1x2x3x3xf32>, %free: tensor<2xf32>) -> (
      tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>,
      tensor<1x2x3x3xf32>) {
    %w = arith.constant dense<0.5> : tensor<2x2x1x1xf32>
    %scale = arith.constant dense<6.0> : tensor<2xf32>
    %bias = arith.constant dense<10.0> : tensor<2xf32>
    %mean = arith.constant dense<1.0> : tensor<2xf32>
    %variance = arith.constant dense<3.0> : tensor<2xf32>
    %channel = arith.constant dense<2.0> : tensor<2x1x1xf32>
    %half = arith.constant dense<0.5> : tensor<f32>
    %zero = arith.constant dense<0.0> : tensor<f32>
    %columns = arith.constant dense<2.0> : tensor<3xf32>

    // 6 / sqrt(3 + 1) = 3: weight 0.5 * 3, bias 10 - 1 * 3; then times 2, minus 0.5, times 1 / 0.5.
    // CHECK-DAG: %[[W:.*]] = arith.constant dense<6.000000e+00> : tensor<2x2x1x1xf32>
    // CHECK-DAG: %[[B:.*]] = arith.constant dense<2.700000e+01> : tensor<2xf32>
    // CHECK: %[[A:.*]] = "ai.conv"(%[[X]], %[[W]], %[[B]])
    // CHECK-NOT: ai.batch_norm
    %a0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
    %a1 = "ai.batch_norm"(%a0, %scale, %bias, %mean, %variance) {epsilon = 1.0 : f64} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
    %a2 = "ai.mul"(%channel, %a1) : (tensor<2x1x1xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
    %a3 = "ai.sub"(%a2, %half) : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
    %a = "ai.div"(%a3, %half) : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>

    // No conv before it: a multiplication and an addition.
    // CHECK-DAG: %[[FACTOR:.*]] = arith.constant dense<3.000000e+00> : tensor<2x1x1xf32>
    // CHECK-DAG: %[[OFFSET:.*]] = arith.constant dense<7.000000e+00> : tensor<2x1x1xf32>
    // CHECK: %[[B0:.*]] = "ai.mul"(%[[X]], %[[FACTOR]])
    // CHECK: %[[BN:.*]] = "ai.add"(%[[B0]], %[[OFFSET]])
    %b = "ai.batch_norm"(%x, %scale, %bias, %mean, %variance) {epsilon = 1.0 : f64} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>

    // A parameter that is not constant.
    // CHECK: %[[C:.*]] = "ai.batch_norm"
    %c = "ai.batch_norm"(%x, %free, %bias, %mean, %variance) {epsilon = 1.0 : f64} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>

    // Another user wants the conv as it is; a constant along columns is none per channel; 1 / 0 is not finite.
    // CHECK: %[[D0:.*]] = "ai.conv"
    // CHECK: %[[D1:.*]] = "ai.mul"(%[[D0]]
    // CHECK: %[[D:.*]] = "ai.add"(%[[D0]], %[[D1]])
    %d0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
    %d1 = "ai.mul"(%d0, %half) : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
    %d = "ai.add"(%d0, %d1) : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
    // CHECK: %[[E0:.*]] = "ai.conv"
    // CHECK: %[[E:.*]] = "ai.mul"(%[[E0]]
    %e0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
    %e = "ai.mul"(%e0, %columns) : (tensor<1x2x3x3xf32>, tensor<3xf32>) -> tensor<1x2x3x3xf32>
    // CHECK: %[[F0:.*]] = "ai.conv"
    // CHECK: %[[F:.*]] = "ai.div"(%[[F0]]
    %f0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
    %f = "ai.div"(%f0, %zero) : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
    // CHECK: return %[[A]], %[[BN]], %[[C]], %[[D]], %[[E]], %[[F]]
    return %a, %b, %c, %d, %e, %f : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
  }
}
