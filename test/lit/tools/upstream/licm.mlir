// What does not change in a loop moves out of it.
// RUN: aiopt %s --loop-invariant-code-motion | filecheck %s
// CHECK: arith.addf
// CHECK: scf.for
// CHECK-NOT: arith.addf
func.func @f(%m: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %y = arith.addf %x, %x : f32
    memref.store %y, %m[%i] : memref<8xf32>
  }
  return
}
