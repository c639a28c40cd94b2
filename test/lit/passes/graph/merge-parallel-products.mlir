// RUN: aiopt -p 'ai-merge-parallel{vector-bits=256 fusion=max}' --split-input-file %s | filecheck %s
// RUN: aiopt -p 'ai-merge-parallel{vector-bits=256}' --remarks-filter='.*' --split-input-file %s -o /dev/null 2>&1 | filecheck %s --check-prefix=AUTO
// RUN: aiopt -p 'ai-merge-parallel{vector-bits=256 fusion=max},ai-group-kernels,ai-outline-kernels' --split-input-file %s | filecheck %s --check-prefix=KERNELS
// RUN: not aiopt -p 'ai-merge-parallel{fusion=off}' --split-input-file %s 2>&1 | filecheck %s --check-prefix=OPTION

// Queries and keys of one input become one product with the columns of both, if that is asked for: nothing is faster.
// AUTO: did not merge Query and Key, which read one input: one would take [[CYCLES:[0-9]+]] cycles, several take [[CYCLES]]
// AUTO: did not merge Left and Right, which read one input: what follows differs
// OPTION: error: ai-merge-parallel: option 'fusion' must be auto or max, not 'off'
module attributes {ai.level = "graph", ai.net = "net"} {
  // CHECK-LABEL: func.func @main
  // CHECK: %[[W:.*]] = "ai.constant"() {key = "merged"} : () -> tensor<32x96xf32>
  // CHECK: %[[P:.*]] = "ai.matmul"(%arg0, %[[W]])
  // CHECK: %[[B:.*]] = "ai.constant"() {key = "merged.1"} : () -> tensor<96xf32>
  // CHECK: %[[S:.*]] = "ai.add"(%[[P]], %[[B]])
  // CHECK: %[[H:.*]] = "ai.reshape"(%[[S]]) {shape = array<i64: 8, 6, 16>}
  // CHECK: "ai.slice"(%[[H]]) {sizes = array<i64: 8, 3, 16>, starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>}
  // CHECK: "ai.slice"({{.*}}) {sizes = array<i64: 8, 3, 16>, starts = array<i64: 0, 3, 0>, steps = array<i64: 1, 1, 1>}
  // A product and what reads its parts are two kernels.
  // KERNELS-LABEL: func.func @main
  // KERNELS: call @matmul_add_0(%arg0, {{.*}}) {{.*}} -> tensor<8x96xf32>
  // KERNELS: call @matmul_1
  // KERNELS: return
  func.func @main(%x: tensor<8x32xf32> {ai.name = "x"}) -> (tensor<3x8x8xf32> {ai.name = "scores"}) {
    %w = arith.constant dense<0.5> : tensor<32x48xf32>
    %v = arith.constant dense<0.25> : tensor<32x48xf32>
    %b = arith.constant dense<1.0> : tensor<48xf32>
    %c = arith.constant dense<2.0> : tensor<1x48xf32>
    %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<8x32xf32>, tensor<32x48xf32>) -> tensor<8x48xf32> loc("Query")
    %1 = "ai.add"(%0, %b) : (tensor<8x48xf32>, tensor<48xf32>) -> tensor<8x48xf32>
    %2 = "ai.reshape"(%1) {shape = array<i64: 8, 3, 16>} : (tensor<8x48xf32>) -> tensor<8x3x16xf32>
    %3 = "ai.transpose"(%2) {permutation = array<i64: 1, 0, 2>} : (tensor<8x3x16xf32>) -> tensor<3x8x16xf32>
    %4 = "ai.matmul"(%x, %v) {acc = f32} : (tensor<8x32xf32>, tensor<32x48xf32>) -> tensor<8x48xf32> loc("Key")
    %5 = "ai.add"(%4, %c) : (tensor<8x48xf32>, tensor<1x48xf32>) -> tensor<8x48xf32>
    %6 = "ai.reshape"(%5) {shape = array<i64: 8, 3, 16>} : (tensor<8x48xf32>) -> tensor<8x3x16xf32>
    %7 = "ai.transpose"(%6) {permutation = array<i64: 1, 2, 0>} : (tensor<8x3x16xf32>) -> tensor<3x16x8xf32>
    %8 = "ai.matmul"(%3, %7) {acc = f32} : (tensor<3x8x16xf32>, tensor<3x16x8xf32>) -> tensor<3x8x8xf32>
    return %8 : tensor<3x8x8xf32>
  }
}

// -----

module attributes {ai.level = "graph", ai.net = "net"} {
  // What follows differs.
  // CHECK-LABEL: func.func @main
  // CHECK: "ai.matmul"
  // CHECK: "ai.matmul"
  // CHECK: "ai.matmul"
  func.func @main(%x: tensor<8x32xf32> {ai.name = "x"}) -> (tensor<8x8xf32> {ai.name = "o"}) {
    %w = arith.constant dense<0.5> : tensor<32x32xf32>
    %v = arith.constant dense<0.25> : tensor<32x32xf32>
    %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32> loc("Left")
    %1 = "ai.relu"(%0) : (tensor<8x32xf32>) -> tensor<8x32xf32>
    %2 = "ai.matmul"(%x, %v) {acc = f32} : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32> loc("Right")
    %3 = "ai.transpose"(%2) {permutation = array<i64: 1, 0>} : (tensor<8x32xf32>) -> tensor<32x8xf32>
    %4 = "ai.matmul"(%1, %3) {acc = f32} : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
    return %4 : tensor<8x8xf32>
  }
}
