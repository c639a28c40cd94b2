// A function on tensors becomes @main and a kernel for each op that computes.
// RUN: aiopt -p ai-outline-linalg %s | filecheck %s
// RUN: aiopt -p ai-linalg-pipeline %s | filecheck %s --check-prefix=FUSED
// RUN: aiopt-run %s | filecheck %s --check-prefix=NUMBERS
// RUN: not aiopt -p ai-outline-linalg,ai-outline-linalg %s 2>&1 | filecheck %s --check-prefix=TWICE

// CHECK: ai.level = "tensor"
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[^:]*]]: memref<4x6xf32> {ai.name = "x"}, %[[Y:[^:]*]]: memref<24xf32> {ai.output})
// CHECK: %[[W:.*]] = "ai.constant"() {key = "constant"} : () -> tensor<6x6xf32>
// CHECK: %[[B:.*]] = bufferization.to_buffer %[[W]] read_only
// CHECK: %[[T:.*]] = memref.alloc() : memref<4x6xf32>
// CHECK: call @matmul_0(%[[X]], %[[B]], %[[T]]) {ai.nodes = ["mm"]}
// CHECK: %[[V:.*]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [4, 6], strides: [6, 1]
// CHECK: call @exp_1(%[[T]], %[[V]])
// CHECK-LABEL: func.func private @matmul_0(
// CHECK-SAME: ai.kernel, ai.ops = ["linalg.matmul"]
// CHECK: bufferization.to_tensor %{{.*}} restrict
// CHECK: linalg.fill
// CHECK: linalg.matmul
// CHECK: bufferization.materialize_in_destination
// CHECK-LABEL: func.func private @exp_1(
// CHECK-NOT: linalg.fill

// FUSED: call @generic_0(
// FUSED: call @generic_1(
// NUMBERS: {{^}}output y0: 24 float32, min 1, max 1, mean 1
// TWICE: {{^}}error: ai-outline-linalg takes IR from elsewhere, but this is of level tensor
func.func @net(%x: tensor<4x6xf32> {ai.name = "x"}) -> tensor<24xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.0> : tensor<6x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %m = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32> loc("mm")
  %p = linalg.exp ins(%m : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = tensor.collapse_shape %p [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  return %y : tensor<24xf32>
}
