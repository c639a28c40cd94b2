// RUN: aiopt -p 'builtin.module(convert-ai-to-linalg)' %s | filecheck %s
// RUN: sed 's/return %1, %2/return %0, %2/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=RETURNED
// RUN: sed 's/starts = array<i64: 0, 0>/starts = array<i64: 0, 1>/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=READ
// RUN: sed 's/insert_1(%x, %0)/insert_1(%x, %w)/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=ARGUMENT
// What a call completes in place, nobody else sees change.
// CHECK-LABEL: func.func @main
// CHECK: call @relu_insert_0(%arg0, %[[OUT:arg2]])
// CHECK: call @exp_insert_1(%arg0, %[[OUT]])
// CHECK: call @slice_neg_2(%[[OUT]], %arg3)
// RETURNED: error: {{.*}}level kernels does not allow 'func.call' that writes into what is returned, or seen as something else
// READ: error: {{.*}}level kernels does not allow 'func.call' that reads what @exp_insert_1 has changed by then
// ARGUMENT: error: {{.*}}level kernels does not allow 'func.call' that writes into what no call computes
module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}, %w: tensor<2x8xf32> {ai.name = "w"}) -> (tensor<2x8xf32> {ai.name = "y"}, tensor<2x4xf32> {ai.name = "z"}) {
    %0 = call @relu_insert_0(%x) : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %1 = call @exp_insert_1(%x, %0) : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %2 = call @slice_neg_2(%0) : (tensor<2x8xf32>) -> tensor<2x4xf32>
    return %1, %2 : tensor<2x8xf32>, tensor<2x4xf32>
  }
  func.func private @relu_insert_0(%x: tensor<2x4xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.relu", "ai.insert"]} {
    %0 = "ai.relu"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = "ai.insert"(%0) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 8 : i64, start = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
  func.func private @exp_insert_1(%x: tensor<2x4xf32>, %into: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.exp", "ai.insert"]} {
    %0 = "ai.exp"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = "ai.insert"(%0, %into) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 8 : i64, start = 4 : i64} : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
  func.func private @slice_neg_2(%x: tensor<2x8xf32>) -> tensor<2x4xf32> attributes {ai.kernel, ai.ops = ["ai.slice", "ai.neg"]} {
    %0 = "ai.slice"(%x) {sizes = array<i64: 2, 4>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
    %1 = "ai.neg"(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
}
