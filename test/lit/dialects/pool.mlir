// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/pads = array<i64: 1, 0, 1, 1>/pads = array<i64: 3, 0, 1, 1>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=PADS
// RUN: sed 's/kernel = array<i64: 3, 2>/kernel = array<i64: 3>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=KERNEL
// RUN: sed 's/dilations = array<i64: 1, 2>/dilations = array<i64: 1, 0>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=DILATIONS
// RUN: sed 's/= true/= 1 : i64/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=BOOL
// RUN: sed 's/f16/i16/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=FLOAT
// RUN: sed 's/xi64>/xi32>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=PLACE

// CHECK-LABEL: func.func @max_pool
// CHECK: "ai.max_pool"(%{{.*}}) {dilations = array<i64: 1, 2>, kernel = array<i64: 3, 2>, pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 1>} : (tensor<1x4x8x8xui8>) -> tensor<1x4x4x7xui8>
// PADS: error: {{.*}}ai.max_pool: pads must be smaller than the window (3), but are [3, 0, 1, 1] (at 'MaxPool_1')
// KERNEL: error: {{.*}}ai.max_pool: kernel must have 2 numbers, but has 1 (at 'MaxPool_1')
// DILATIONS: error: {{.*}}ai.max_pool: dilations must be 1 or more, but is [1, 0] (at 'MaxPool_1')
func.func @max_pool(%x: tensor<1x4x8x8xui8>) {
  %0 = "ai.max_pool"(%x) {dilations = array<i64: 1, 2>, kernel = array<i64: 3, 2>, pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 1>} : (tensor<1x4x8x8xui8>) -> tensor<1x4x4x7xui8> loc("MaxPool_1")
  return
}

// CHECK-LABEL: func.func @avg_pool
// CHECK: "ai.avg_pool"(%{{.*}}) {count_include_pad = true, kernel = array<i64: 2>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<1x1x4xf16>) -> tensor<1x1x3xf16>
// BOOL: error: {{.*}}ai.avg_pool: attribute 'count_include_pad' must be true or false, but is 1 : i64
// FLOAT: error: {{.*}}ai.avg_pool: operand 'input' must be a tensor of floats, but is tensor<1x1x4xi16>
func.func @avg_pool(%x: tensor<1x1x4xf16>) {
  %0 = "ai.avg_pool"(%x) {count_include_pad = true, kernel = array<i64: 2>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<1x1x4xf16>) -> tensor<1x1x3xf16> loc("AveragePool_2")
  return
}

// CHECK-LABEL: func.func @max_pool_places
// CHECK: "ai.max_pool_places"(%{{.*}}) {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<1x1x4xf32>) -> tensor<1x1x3xi64>
// PLACE: error: {{.*}}ai.max_pool_places: result 'out' has type tensor<1x1x3xi32>, but must have tensor<1x1x3xi64>
func.func @max_pool_places(%x: tensor<1x1x4xf32>) {
  %0 = "ai.max_pool_places"(%x) {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<1x1x4xf32>) -> tensor<1x1x3xi64> loc("MaxPool_3")
  return
}
