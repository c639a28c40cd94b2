// Reproducers of pipelines with passes of both kinds run again in aiopt; those of an abort inside LLVM are the same.
// RUN: not aiopt %s -p 'ai-cse,one-shot-bufferize' --mlir-pass-pipeline-crash-reproducer=%t.all 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: filecheck %s --input-file %t.all --check-prefix=ALL
// RUN: not aiopt %t.all --run-reproducer 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: not aiopt %s -p 'cse,func.func(affine-loop-unroll-jam{unroll-jam-factor=0}),ai-dce' --mlir-pass-pipeline-crash-reproducer=%t.crash 2>&1 | filecheck %s --check-prefix=ABORT
// RUN: filecheck %s --input-file %t.crash --check-prefix=CRASH
// RUN: not aiopt %t.crash --run-reproducer --mlir-print-ir-before=cse 2>&1 | filecheck %s --check-prefix=SEEN
// RUN: not aiopt %s -p 'ai-cse,func.func(affine-loop-unroll-jam{unroll-jam-factor=0}),cse' --mlir-pass-pipeline-crash-reproducer=%t.one --mlir-pass-pipeline-local-reproducer 2>&1 | filecheck %s --check-prefix=ABORT
// RUN: filecheck %s --input-file %t.one --check-prefix=LOCAL
// RUN: not aiopt %s --run-reproducer 2>&1 | filecheck %s --check-prefix=NONE

// ERROR: error: op was not bufferized
// ALL: pipeline: "builtin.module(ai-cse, one-shot-bufferize{
// ABORT: error: LLVM aborted in func.func(affine-loop-unroll-jam{unroll-jam-factor=0}): Assertion `unrollJamFactor > 0
// CRASH: pipeline: "builtin.module(cse, func.func(affine-loop-unroll-jam{unroll-jam-factor=0}), ai-dce)"
// What was shown before the abort is not lost.
// SEEN: IR Dump Before CSE (cse)
// SEEN: error: LLVM aborted in
// LOCAL: pipeline: "builtin.module(func.func(affine-loop-unroll-jam{unroll-jam-factor=0}))"
// NONE: error: --run-reproducer takes text with a resource 'mlir_reproducer' that has a pipeline
func.func @f(%x: tensor<2xf32>, %m: memref<64xf32>) -> tensor<2xf32> {
  affine.for %i = 0 to 64 {
    %v = affine.load %m[%i] : memref<64xf32>
    affine.store %v, %m[%i] : memref<64xf32>
  }
  %y = "ai.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
