// RUN: aiopt -p convert-ai-to-linalg %s | filecheck %s
// RUN: sed 's/permutation = array<i64: 1, 0>/permutation = array<i64: 1, 1>/' %s > %t.mlir
// RUN: not aiopt -p convert-ai-to-linalg %t.mlir 2>&1 | filecheck %s --check-prefix=PERMUTATION

// CHECK-LABEL: func.func private @transpose(
// CHECK: linalg.generic {indexing_maps = [#[[SWAP:.*]], #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%{{.*}} : tensor<2x3xf32>) outs(%{{.*}} : tensor<3x2xf32>)

// CHECK-LABEL: func.func private @slice(
// CHECK: tensor.extract_slice %{{.*}}[1, 0] [2, 3] [2, 1]

// A subset op takes no negative step: elements are read through an index expression.
// CHECK-LABEL: func.func private @reverse(
// CHECK: linalg.index 0
// CHECK: tensor.extract

// CHECK-LABEL: func.func private @concat(
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 3] [2, 1] [1, 1]

// PERMUTATION: error: {{.*}}ai.transpose

func.func private @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
func.func private @slice(%x: tensor<5x3xf32>) -> tensor<2x3xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.slice"(%x) {sizes = array<i64: 2, 3>, starts = array<i64: 1, 0>, steps = array<i64: 2, 1>} : (tensor<5x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func private @reverse(%x: tensor<5xf32>) -> tensor<5xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.slice"(%x) {sizes = array<i64: 5>, starts = array<i64: 4>, steps = array<i64: -1>} : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func private @concat(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> tensor<2x4xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.concat"(%x, %y) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
