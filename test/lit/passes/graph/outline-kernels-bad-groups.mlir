// RUN: aiopt -p ai-outline-kernels %s --split-input-file --verify-diagnostics

module attributes {ai.level = "graph"} {
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-error@+1 {{ai.group 5 has more than one result: 'ai.neg'}}
    %0 = "ai.neg"(%x) {ai.group = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "ai.exp"(%0) {ai.group = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
// -----
// A location that is no place in a file: the name of an ONNX node.
// expected-error@unknown {{ai.group 5 has more than one result: 'ai.neg' (at 'Neg_0') is used outside it}}
module attributes {ai.level = "graph"} {
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = "ai.neg"(%x) {ai.group = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32> loc("Neg_0")
    %1 = "ai.exp"(%0) {ai.group = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
