// Affine loops and accesses become scf, memref and arith.
// RUN: aiopt %s --lower-affine | filecheck %s
// CHECK-NOT: affine.
// CHECK: scf.for
// CHECK: memref.load
// CHECK-NOT: affine.
func.func @f(%m: memref<64xf32>) {
  affine.for %i = 0 to 63 {
    %v = affine.load %m[%i + 1] : memref<64xf32>
    affine.store %v, %m[%i] : memref<64xf32>
  }
  return
}
