// RUN: aiopt -p convert-ai-to-linalg %s | filecheck %s
// RUN: not aiopt -p 'convert-ai-to-linalg{tile=1}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not aiopt -p 'convert-ai-to-linalg,convert-ai-to-linalg' %s 2>&1 | filecheck %s --check-prefix=LEVEL

// Each kernel result is an output argument or an allocation, each constant a buffer, each view a cast of one.
// CHECK: ai.level = "tensor"
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: memref<2x6xf32> {ai.name = "x"}, %[[Y:.*]]: memref<4x3xf32> {ai.name = "y", ai.output})
// CHECK: %[[W:.*]] = "ai.constant"() {key = "w"} : () -> tensor<6x6xf32>
// CHECK: %[[WB:.*]] = bufferization.to_buffer %[[W]] read_only : tensor<6x6xf32> to memref<6x6xf32>
// CHECK: %[[T:.*]] = memref.alloc() : memref<2x6xf32>
// CHECK: call @matmul_0(%[[X]], %[[WB]], %[[T]]) {ai.nodes = ["MatMul_0"]}
// CHECK: %[[V:.*]] = memref.reinterpret_cast %[[T]] to offset: [0], sizes: [4, 3], strides: [3, 1]
// CHECK: call @relu_1(%[[V]], %[[Y]])
// CHECK-NEXT: return

// CHECK-LABEL: func.func private @matmul_0(
// CHECK-SAME: memref<2x6xf32>, %{{.*}}: memref<6x6xf32>, %[[OUT:.*]]: memref<2x6xf32>) attributes {ai.kernel, ai.ops = ["ai.matmul"]
// CHECK: bufferization.to_tensor %{{.*}} restrict
// CHECK: %[[R:.*]] = linalg.generic
// CHECK: bufferization.materialize_in_destination %[[R]] in restrict writable %[[OUT]]

// OPTION: error: convert-ai-to-linalg has no option 'tile' (it has none)
// LEVEL: error: convert-ai-to-linalg takes IR of level kernels, but this is tensor

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<2x6xf32> {ai.name = "x"}) -> (tensor<4x3xf32> {ai.name = "y"}) {
    %w = "ai.constant"() {key = "w"} : () -> tensor<6x6xf32>
    %0 = call @matmul_0(%x, %w) {ai.nodes = ["MatMul_0"]} : (tensor<2x6xf32>, tensor<6x6xf32>) -> tensor<2x6xf32>
    %1 = "ai.reshape"(%0) {shape = array<i64: 4, 3>} : (tensor<2x6xf32>) -> tensor<4x3xf32>
    %2 = call @relu_1(%1) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %2 : tensor<4x3xf32>
  }
  func.func private @matmul_0(%x: tensor<2x6xf32>, %w: tensor<6x6xf32>) -> tensor<2x6xf32> attributes {ai.kernel, ai.ops = ["ai.matmul"]} {
    %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<2x6xf32>, tensor<6x6xf32>) -> tensor<2x6xf32>
    return %0 : tensor<2x6xf32>
  }
  func.func private @relu_1(%x: tensor<4x3xf32>) -> tensor<4x3xf32> attributes {ai.kernel, ai.ops = ["ai.relu"]} {
    %0 = "ai.relu"(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}
