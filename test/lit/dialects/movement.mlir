// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/shape = array<i64: 3, 2>/shape = array<i64: 3, 3>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=RESHAPE
// RUN: sed 's/permutation = array<i64: 1, 0>/permutation = array<i64: 1, 1>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=PERMUTATION
// RUN: sed 's/starts = array<i64: 1, 2>/starts = array<i64: 1, 3>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SLICE
// RUN: sed 's/axis = 1/axis = 0/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=CONCAT
// RUN: sed 's/shape = array<i64: 4, 2, 3>/shape = array<i64: 4, 2, 2>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=BROADCAST
// RUN: sed 's/to = "channels_last"/to = "nhwc"/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=LAYOUT
// RUN: sed 's/start = 1/start = 2/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=INSERT
// RUN: sed 's/size = 2/size = 3/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=INTO

// CHECK-LABEL: func.func @main
// CHECK: "ai.reshape"(%{{.*}}) {shape = array<i64: 3, 2>} : (tensor<2x3xi1>) -> tensor<3x2xi1>
// CHECK: "ai.transpose"(%{{.*}}) {permutation = array<i64: 1, 0>} : (tensor<3x2xi1>) -> tensor<2x3xi1>
// CHECK: "ai.slice"(%{{.*}}) {sizes = array<i64: 1, 2>, starts = array<i64: 1, 2>, steps = array<i64: 1, -2>} : (tensor<2x3xi1>) -> tensor<1x2xi1>
// CHECK: "ai.concat"(%{{.*}}, %{{.*}}) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>} : (tensor<2x3xi1>, tensor<2x1xi1>) -> tensor<2x4xi1>
// CHECK: "ai.broadcast_to"(%{{.*}}) {shape = array<i64: 4, 2, 3>} : (tensor<2x1xi1>) -> tensor<4x2x3xi1>
// CHECK: "ai.relayout"(%{{.*}}) {to = "channels_last"} : (tensor<4x2x3xi1>) -> tensor<4x3x2xi1>
// CHECK: "ai.insert"(%{{.*}}) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 2 : i64, start = 1 : i64} : (tensor<2x1xi1>) -> tensor<2x2xi1>
// CHECK: "ai.insert"(%{{.*}}, %{{.*}}) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 2 : i64, start = 0 : i64} : (tensor<2x1xi1>, tensor<2x2xi1>) -> tensor<2x2xi1>
// RESHAPE: error: {{.*}}ai.reshape: the shape [3, 3] does not hold the 6 elements of tensor<2x3xi1> (at 'Reshape_1')
// PERMUTATION: error: {{.*}}ai.transpose: [1, 1] is not a permutation of the 2 dimensions (at 'Transpose_2')
// SLICE: error: {{.*}}ai.slice: dimension 1: elements 3 to 1 are not all within 0 to 2 (at 'Slice_3')
// CONCAT: error: {{.*}}ai.concat: tensor<2x3xi1> and tensor<2x1xi1> differ in more than axis 0 (at 'Concat_4')
// BROADCAST: error: {{.*}}ai.broadcast_to: result 'out' has type tensor<4x2x3xi1>, but must have tensor<4x2x2xi1>
// LAYOUT: error: {{.*}}ai.relayout: to must be 'channels_first' or 'channels_last', but is 'nhwc' (at 'Relayout_6')
// INSERT: error: {{.*}}ai.insert: 1 elements from 2 on do not lie within 2 (at 'Insert_7')
// INTO: error: {{.*}}ai.insert: result 'out' has type tensor<2x2xi1>, but must have tensor<2x3xi1>
func.func @main(%x: tensor<2x3xi1>, %y: tensor<2x1xi1>) {
  %0 = "ai.reshape"(%x) {shape = array<i64: 3, 2>} : (tensor<2x3xi1>) -> tensor<3x2xi1> loc("Reshape_1")
  %1 = "ai.transpose"(%0) {permutation = array<i64: 1, 0>} : (tensor<3x2xi1>) -> tensor<2x3xi1> loc("Transpose_2")
  %2 = "ai.slice"(%1) {sizes = array<i64: 1, 2>, starts = array<i64: 1, 2>, steps = array<i64: 1, -2>} : (tensor<2x3xi1>) -> tensor<1x2xi1> loc("Slice_3")
  %3 = "ai.concat"(%x, %y) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>} : (tensor<2x3xi1>, tensor<2x1xi1>) -> tensor<2x4xi1> loc("Concat_4")
  %4 = "ai.broadcast_to"(%y) {shape = array<i64: 4, 2, 3>} : (tensor<2x1xi1>) -> tensor<4x2x3xi1> loc("Expand_5")
  %5 = "ai.relayout"(%4) {to = "channels_last"} : (tensor<4x2x3xi1>) -> tensor<4x3x2xi1> loc("Relayout_6")
  %6 = "ai.insert"(%y) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 2 : i64, start = 1 : i64} : (tensor<2x1xi1>) -> tensor<2x2xi1> loc("Insert_7")
  %7 = "ai.insert"(%y, %6) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 2 : i64, start = 0 : i64} : (tensor<2x1xi1>, tensor<2x2xi1>) -> tensor<2x2xi1> loc("Insert_8")
  return
}
