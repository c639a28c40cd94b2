// A loop of four, unrolled.
// RUN: aiopt %s --pass-pipeline='builtin.module(func.func(affine-loop-unroll{unroll-factor=4}))' | filecheck %s
// CHECK-NOT: affine.for
// CHECK-COUNT-4: affine.load
// CHECK-NOT: affine.load
func.func @f(%m: memref<4xf32>, %n: memref<f32>) {
  affine.for %i = 0 to 4 {
    %v = affine.load %m[%i] : memref<4xf32>
    affine.store %v, %n[] : memref<f32>
  }
  return
}
