// RUN: aiopt -p ai-cpu-lower-pipeline %s | filecheck %s
// RUN: aiopt -p ai-cpu-lower-pipeline %s | aiopt --emit=llvm | filecheck %s --check-prefix=LLVM
// RUN: not aiopt -p ai-cpu-lower-pipeline,canonicalize,ai-cpu-lower-pipeline %s 2>&1 | filecheck %s --check-prefix=TWICE
// TWICE: error: ai-expand-math takes IR of level loops, but this is llvm

// A multiply-add of a row with everything a kernel may hold: subview, alloca, table, math, division rounding down.
// CHECK: ai.level = "llvm"
// CHECK: llvm.func internal @kernel.kernel_task_0(
// CHECK-SAME: !llvm.ptr {llvm.noalias}
// CHECK: llvm.alloca
// CHECK: llvm.shl
// CHECK: llvm.call @cbrtf
// CHECK: llvm.intr.maximum
// CHECK: llvm.intr.fmuladd
// CHECK: llvm.func @aiopt_net_run(
// LLVM: @aiopt_net_info = constant
// LLVM: define internal void @kernel.kernel_task_0(ptr noalias %0, ptr noalias %1, i64 %2, i64 %3)
// LLVM: define i32 @aiopt_net_run(ptr %0, ptr %1, ptr %2)
module attributes {ai.level = "loops", ai.net = "net", ai.arena_bytes = 0 : i64, ai.weights_bytes = 0 : i64} {
  memref.global "private" constant @table : memref<4xf32> = dense<[0.0, 1.0, 2.0, 3.0]>
  func.func @main(%x: memref<8x16xf32> {ai.name = "x"}, %y: memref<8x16xf32> {ai.name = "y", ai.output},
                  %weights: memref<64xi8>, %arena: memref<64xi8>) {
    call @kernel(%x, %y) {ai.nodes = ["Mul_0"]} : (memref<8x16xf32>, memref<8x16xf32>) -> ()
    return
  }
  func.func private @kernel(%a: memref<8x16xf32>, %b: memref<8x16xf32>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %table = memref.get_global @table : memref<4xf32>
    scf.forall (%i) in (8) {
      %row = memref.alloca() : memref<16xf32>
      %q = arith.floordivsi %i, %c4 : index
      %s = memref.load %table[%q] : memref<4xf32>
      %view = memref.subview %a[%i, 0] [1, 16] [1, 1] : memref<8x16xf32> to memref<16xf32, strided<[1], offset: ?>>
      scf.for %k = %c0 to %c16 step %c1 {
        %u = memref.load %view[%k] : memref<16xf32, strided<[1], offset: ?>>
        %e = math.exp %u : f32
        %f = math.cbrt %e : f32
        memref.store %f, %row[%k] : memref<16xf32>
      }
      scf.for %k = %c0 to %c16 step %c1 {
        %u = memref.load %row[%k] : memref<16xf32>
        %m = arith.maximumf %u, %s : f32
        %p = arith.mulf %m, %s : f32
        %r = arith.addf %p, %u : f32
        memref.store %r, %b[%i, %k] : memref<8x16xf32>
      }
    }
    return
  }
}
