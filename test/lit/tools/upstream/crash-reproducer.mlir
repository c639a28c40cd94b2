// A pass that fails leaves a reproducer: of all passes, or of itself alone.
// RUN: not aiopt %s --allow-unregistered-dialect --cse --one-shot-bufferize --mlir-pass-pipeline-crash-reproducer=%t.all 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: filecheck %s --input-file %t.all --check-prefix=ALL
// RUN: not aiopt %s --allow-unregistered-dialect --cse --one-shot-bufferize --mlir-pass-pipeline-crash-reproducer=%t.one --mlir-pass-pipeline-local-reproducer --mlir-disable-threading
// RUN: filecheck %s --input-file %t.one --check-prefix=ONE
// RUN: not aiopt %t.one --run-reproducer --allow-unregistered-dialect 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: error: op was not bufferized
// ALL: pipeline: "builtin.module(cse, one-shot-bufferize{
// ONE: pipeline: "builtin.module(one-shot-bufferize{
func.func @f(%t: tensor<8xf32>) -> tensor<8xf32> {
  %r = "unknown.op"(%t) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
