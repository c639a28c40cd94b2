// Errors of passes that are expected.
// RUN: aiopt %s --allow-unregistered-dialect --one-shot-bufferize --verify-diagnostics
func.func @f(%t: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{op was not bufferized}}
  %r = "unknown.op"(%t) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
