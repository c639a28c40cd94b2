// RUN: aiopt -p 'ai-cpu-lower-pipeline' %s | filecheck %s
// RUN: aiopt -p 'ai-cpu-lower-pipeline{bf16=true}' %s | filecheck %s --check-prefix=NATIVE
// RUN: not aiopt -p 'cpu-hide-bf16' %s 2>&1 | filecheck %s --check-prefix=LEVEL
// LEVEL: error: cpu-hide-bf16 takes IR of level cpu, but this is loops

module attributes {ai.level = "loops", ai.net = "net", ai.arena_bytes = 0 : i64, ai.weights_bytes = 0 : i64} {
  func.func @main(%x: memref<8xbf16> {ai.name = "x"}, %y: memref<8xbf16> {ai.name = "y", ai.output},
                  %weights: memref<64xi8>, %arena: memref<64xi8>) {
    call @kernel(%x, %y) {ai.nodes = ["Mul_0"]} : (memref<8xbf16>, memref<8xbf16>) -> ()
    return
  }

  // What is left of bf16 is bits; a product and a sum in between are not rounded.
  // CHECK-LABEL: llvm.func internal @kernel.kernel(
  // CHECK-NOT: bf16
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> i16
  // CHECK-NOT: bf16
  // CHECK: llvm.intr.fmuladd
  // CHECK-NOT: bf16
  // CHECK: llvm.store %{{.*}} : i16, !llvm.ptr
  // CHECK-NOT: bf16
  // CHECK: llvm.return
  // NATIVE-LABEL: llvm.func internal @kernel.kernel(
  // NATIVE: llvm.fpext %{{.*}} : bf16 to f32
  // NATIVE: llvm.intr.fmuladd
  // NATIVE: llvm.fptrunc %{{.*}} : f32 to bf16
  // NATIVE: llvm.store %{{.*}} : bf16, !llvm.ptr
  func.func private @kernel(%a: memref<8xbf16>, %b: memref<8xbf16>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %one = arith.constant -1.0 : bf16
    scf.for %i = %c0 to %c8 step %c1 {
      %u = memref.load %a[%i] : memref<8xbf16>
      %p = arith.mulf %u, %u : bf16
      %s = arith.addf %p, %u : bf16
      memref.store %s, %b[%i] : memref<8xbf16>
      memref.store %one, %b[%i] : memref<8xbf16>
    }
    return
  }
}
