// RUN: aiopt -p convert-ai-to-linalg %s | filecheck %s
// RUN: sed 's/axes = array<i64: 2>/axes = array<i64: 3>/' %s > %t.mlir
// RUN: not aiopt -p convert-ai-to-linalg %t.mlir 2>&1 | filecheck %s --check-prefix=AXIS

// The size-1 axis of a reduction with keepdims exists in indexing maps only.
// CHECK-LABEL: func.func private @mean_sub(
// CHECK-SAME: ai.whole_axes = array<i64: 2>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} {{.*}} outs(%{{.*}} : tensor<1x4xf64>)
// CHECK: arith.divf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]} ins(%{{.*}}, %{{.*}} : tensor<1x4x8xf32>, tensor<1x4xf32>)
// CHECK: arith.subf

// CHECK-LABEL: func.func private @global(
// CHECK: memref.collapse_shape %{{.*}} {{\[\[}}0], [1, 2, 3]] : memref<1x3x1x1xf32> into memref<1x3xf32>
// CHECK: bufferization.materialize_in_destination

// CHECK-LABEL: func.func private @softmax(
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf

// CHECK-LABEL: func.func private @max_pool(
// CHECK: tensor.insert_slice
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]
// CHECK: arith.maximumf

// CHECK-LABEL: func.func private @average_pool(
// CHECK: arith.addf
// CHECK: linalg.index 2
// CHECK: linalg.index 3
// CHECK: arith.divf

// AXIS: error: {{.*}}ai.reduce_mean

func.func private @mean_sub(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.reduce_mean"(%x) {axes = array<i64: 2>, keepdims = true} : (tensor<1x4x8xf32>) -> tensor<1x4x1xf32>
  %1 = "ai.sub"(%x, %0) : (tensor<1x4x8xf32>, tensor<1x4x1xf32>) -> tensor<1x4x8xf32>
  return %1 : tensor<1x4x8xf32>
}
func.func private @global(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x1x1xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.reduce_mean"(%x) {axes = array<i64: 2, 3>, keepdims = true} : (tensor<1x3x4x4xf32>) -> tensor<1x3x1x1xf32>
  return %0 : tensor<1x3x1x1xf32>
}
func.func private @softmax(%x: tensor<2x5xf32>) -> tensor<2x5xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.softmax"(%x) {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
func.func private @max_pool(%x: tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.max_pool"(%x) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32>
  return %0 : tensor<1x2x3x3xf32>
}
func.func private @average_pool(%x: tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.avg_pool"(%x) {count_include_pad = false, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32>
  return %0 : tensor<1x2x3x3xf32>
}
