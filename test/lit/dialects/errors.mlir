// What IRDL checks and what aiopt checks beyond it, at the op in the file.
// RUN: aiopt %s --split-input-file --verify-diagnostics
// RUN: not aiopt %s --split-input-file 2>&1 | filecheck %s
// CHECK: error: ai.relu: result 'out' has type tensor<3xf32>, but must have tensor<2xf32> (at '{{.*}}errors.mlir':8:8)

func.func @shape(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{ai.relu: result 'out' has type tensor<3xf32>, but must have tensor<2xf32>}}
  %y = "ai.relu"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// -----
func.func @attribute(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{attribute "axis" is expected}}
  %y = "ai.softmax"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
// -----
// expected-error@unknown {{ai.level must be one of graph}}
module attributes {ai.level = "attic"} {}
