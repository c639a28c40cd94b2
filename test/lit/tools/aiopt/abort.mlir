// An assertion in LLVM is one error line; what it leaves behind runs in mlir-opt and in aiopt, and fails there alike.
// RUN: rm -rf %t.folder && mkdir -p %t.folder
// RUN: env TMPDIR=%t.folder not aiopt %s -p 'cse,func.func(affine-loop-unroll-jam{unroll-jam-factor=0},canonicalize),ai-dce' -o %t.mlir 2> %t.stderr
// RUN: filecheck %s --input-file %t.stderr
// RUN: wc -l < %t.stderr | filecheck %s --check-prefix=ONE
// RUN: not ls %t.mlir
// RUN: cat %t.folder/aiopt-*.mlir | filecheck %s --check-prefix=REPRODUCER
// RUN: mkdir -p %t.again && cp %t.folder/aiopt-*.mlir %t.again/r.mlir
// RUN: not --crash mlir-opt --run-reproducer %t.again/r.mlir 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: env TMPDIR=%t.again not aiopt --run-reproducer %t.again/r.mlir 2>&1 | filecheck %s --check-prefix=AGAIN

// No stack dump before or after the line.
// ONE: {{^ *}}1{{$}}
// CHECK-NOT: Stack dump
// CHECK: {{^}}error: LLVM aborted in func.func(affine-loop-unroll-jam{unroll-jam-factor=0},canonicalize): Assertion `unrollJamFactor > 0 {{.*}}' failed ({{.*}}LoopUtils.cpp:{{[0-9]+}}); reproducer written to {{.*}}.mlir [AI0911]{{$}}
// CHECK-NOT: Stack dump

// AGAIN: unrollJamFactor > 0

// The duplicate is gone (cse was before the step); the pass that mlir-opt lacks is not in the pipeline.
// REPRODUCER: memref.load
// REPRODUCER-NOT: memref.load
// REPRODUCER: mlir_reproducer
// REPRODUCER-NEXT: pipeline: "builtin.module(func.func(affine-loop-unroll-jam{unroll-jam-factor=0},canonicalize{ {{.*}}}))"
func.func @f(%m: memref<64xf32>, %n: index) -> (f32, f32) {
  affine.for %i = 0 to 64 {
    %v = affine.load %m[%i] : memref<64xf32>
    affine.store %v, %m[%i] : memref<64xf32>
  }
  %a = memref.load %m[%n] : memref<64xf32>
  %b = memref.load %m[%n] : memref<64xf32>
  return %a, %b : f32, f32
}
