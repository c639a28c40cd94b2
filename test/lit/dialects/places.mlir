// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/tensor<2x3xf32>/tensor<2x4xf32>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=FIT
// RUN: sed 's/"edge"/"best"/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=MODE
// RUN: sed 's/count = 2/count = 5/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=COUNT

// CHECK-LABEL: func.func @places
// CHECK: "ai.pad"(%{{.*}}) {{.*}}mode = "edge"{{.*}} : (tensor<4x3xf32>) -> tensor<5x5xf32>
// CHECK: "ai.scatter"(%{{.*}}, %{{.*}}, %{{.*}}) {reduction = "add"}
// CHECK: "ai.cumsum"(%{{.*}}) {axis = 1 : i64}
// CHECK: "ai.top_indices"(%{{.*}}) {axis = 0 : i64, count = 2 : i64, largest = false}
// COUNT: error: {{.*}}ai.top_indices: count must be 0 to 4, but is 5
// FIT: error: {{.*}}ai.scatter: input [n, ...], indices [m] and updates [m, ...] must fit, but are tensor<4x3xf32>
// MODE: error: {{.*}}ai.pad: mode must be one of constant, edge, reflect, wrap, not 'best'
func.func @places(%x: tensor<4x3xf32>, %i: tensor<2xi64>, %u: tensor<2x3xf32>) {
  %0 = "ai.pad"(%x) {high = array<i64: 0, 2>, low = array<i64: 1, 0>, mode = "edge",
       operandSegmentSizes = array<i32: 1, 0>} : (tensor<4x3xf32>) -> tensor<5x5xf32>
  %1 = "ai.scatter"(%x, %i, %u) {reduction = "add"} : (tensor<4x3xf32>, tensor<2xi64>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %2 = "ai.cumsum"(%1) {axis = 1 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %3 = "ai.top_indices"(%2) {axis = 0 : i64, count = 2 : i64, largest = false} : (tensor<4x3xf32>) -> tensor<2x3xi64>
  return
}
