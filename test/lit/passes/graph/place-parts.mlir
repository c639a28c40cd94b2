// RUN: aiopt -p ai-place-parts %s | filecheck %s
// RUN: aiopt -p 'ai-place-parts,ai-group-kernels,ai-outline-kernels' %s | filecheck %s --check-prefix=KERNELS
// RUN: aiopt -p 'ai-place-parts,ai-group-kernels,ai-outline-kernels,convert-ai-to-linalg' %s | filecheck %s --check-prefix=BUFFERS
// RUN: aiopt -p ai-place-parts --remarks-filter='.*' %s 2>&1 | filecheck %s --check-prefix=REMARK
module attributes {ai.level = "graph"} {
  // The parts of a concat of a concat lie in one buffer; what reads one of them, too, reads a slice of it.
  // CHECK-LABEL: func.func @main
  // CHECK: %[[A:.*]] = "ai.relu"
  // CHECK: %[[ONE:.*]] = "ai.insert"(%[[A]]) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 9 : i64, start = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x9xf32>
  // CHECK: %[[B:.*]] = "ai.exp"
  // CHECK: %[[TWO:.*]] = "ai.insert"(%[[B]], %[[ONE]]) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 9 : i64, start = 4 : i64}
  // CHECK: %[[PART:.*]] = "ai.slice"(%[[TWO]]) {sizes = array<i64: 2, 7>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>}
  // CHECK: %[[C:.*]] = "ai.neg"(%[[PART]])
  // CHECK: %[[THREE:.*]] = "ai.insert"(%{{.*}}, %[[TWO]]) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 9 : i64, start = 7 : i64}
  // CHECK: return %[[THREE]], %[[C]]
  // Kernels end with the insert, and no kernel is a copy.
  // KERNELS: call @relu_insert_0(%arg0)
  // KERNELS: call @exp_insert_1(%arg1, %{{.*}})
  // KERNELS: call @slice_neg_2
  // KERNELS: call @tanh_insert_3
  // The output is the buffer that all of them write to.
  // BUFFERS: func.func @main(%arg0: {{.*}}, %[[OUT:arg3]]: memref<2x9xf32> {{.*}}
  // BUFFERS: call @relu_insert_0(%arg0, %[[OUT]])
  // BUFFERS: call @exp_insert_1(%arg1, %[[OUT]])
  // BUFFERS: call @slice_neg_2(%[[OUT]], %arg4)
  // BUFFERS: call @tanh_insert_3(%arg2, %[[OUT]])
  // BUFFERS-LABEL: func.func private @exp_insert_1(%arg0: memref<2x3xf32>, %arg1: memref<2x9xf32>)
  // BUFFERS: memref.subview %arg1[0, 4] [2, 3] [1, 1] : memref<2x9xf32> to memref<2x3xf32, strided<[9, 1], offset: 4>>
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}, %y: tensor<2x3xf32> {ai.name = "y"}, %z: tensor<2x2xf32> {ai.name = "z"}) -> (tensor<2x9xf32> {ai.name = "p"}, tensor<2x7xf32> {ai.name = "q"}) {
    %a = "ai.relu"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %b = "ai.exp"(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %0 = "ai.concat"(%a, %b) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>} : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<2x7xf32> loc("Inner")
    %c = "ai.neg"(%0) : (tensor<2x7xf32>) -> tensor<2x7xf32>
    %d = "ai.tanh"(%z) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %1 = "ai.concat"(%0, %d) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>} : (tensor<2x7xf32>, tensor<2x2xf32>) -> tensor<2x9xf32> loc("Outer")
    return %1, %c : tensor<2x9xf32>, tensor<2x7xf32>
  }
}
// REMARK: placed the parts of Outer
