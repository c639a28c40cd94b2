// RUN: aiopt -p 'ai-merge-parallel{vector-bits=256}' %s | filecheck %s
// RUN: aiopt -p 'ai-merge-parallel{vector-bits=256}' --remarks-filter='.*' %s 2>&1 | filecheck %s --check-prefix=REMARK
module attributes {ai.level = "graph", ai.net = "net"} {
  // Convolutions of one input become one; their readers read parts.
  // CHECK-LABEL: func.func @main
  // CHECK: %[[W:.*]] = "ai.constant"() {key = "merged"} : () -> tensor<10x16x1x1xf32>
  // CHECK: %[[C:.*]] = "ai.conv"(%arg0, %[[W]]) {{.*}} : (tensor<1x8x8x16xf32>, tensor<10x16x1x1xf32>) -> tensor<1x8x8x10xf32>
  // CHECK: %[[R:.*]] = "ai.relu"(%[[C]])
  // CHECK: "ai.slice"(%[[R]]) {sizes = array<i64: 1, 8, 8, 4>, starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>}
  // CHECK: "ai.slice"(%[[R]]) {sizes = array<i64: 1, 8, 8, 6>, starts = array<i64: 0, 0, 0, 4>, steps = array<i64: 1, 1, 1, 1>}
  // Products stay apart: they are returned.
  // CHECK: "ai.matmul"
  // CHECK: "ai.matmul"
  func.func @main(%x: tensor<1x8x8x16xf32> {ai.name = "x"}, %m: tensor<4x16xf32> {ai.name = "m"}) -> (tensor<1x8x8x4xf32> {ai.name = "a"}, tensor<1x8x8x4xf32> {ai.name = "b"}, tensor<4x4xf32> {ai.name = "c"}, tensor<4x4xf32> {ai.name = "d"}) {
    %v = arith.constant dense<0.5> : tensor<4x16x1x1xf32>
    %w = arith.constant dense<0.25> : tensor<6x16x1x1xf32>
    %s = arith.constant dense<0.5> : tensor<4x4x1x1xf32>
    %t = arith.constant dense<0.25> : tensor<4x6x3x3xf32>
    %p = arith.constant dense<0.25> : tensor<16x4xf32>
    %q = arith.constant dense<0.5> : tensor<16x4xf32>
    %0 = "ai.conv"(%x, %v) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x16xf32>, tensor<4x16x1x1xf32>) -> tensor<1x8x8x4xf32> loc("Left")
    %1 = "ai.relu"(%0) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
    %2 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x16xf32>, tensor<6x16x1x1xf32>) -> tensor<1x8x8x6xf32> loc("Right")
    %3 = "ai.relu"(%2) : (tensor<1x8x8x6xf32>) -> tensor<1x8x8x6xf32>
    %4 = "ai.conv"(%1, %s) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x8x8x4xf32>
    %5 = "ai.conv"(%3, %t) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x8x8x6xf32>, tensor<4x6x3x3xf32>) -> tensor<1x8x8x4xf32>
    %6 = "ai.matmul"(%m, %p) {acc = f32} : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32> loc("Query")
    %7 = "ai.matmul"(%m, %q) {acc = f32} : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32> loc("Key")
    return %4, %5, %6, %7 : tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
}
// REMARK-DAG: merged Left and Right, which read one input
// REMARK-DAG: did not merge Query and Key, which read one input: func.return would have to copy its part
