// A pass for functions that is given as a flag is nested where it belongs.
// RUN: aiopt %s --affine-loop-tile=tile-size=8 --dump-pass-pipeline 2>%t | filecheck %s
// RUN: filecheck %s --input-file %t --check-prefix=PIPELINE
// PIPELINE: func.func(
// PIPELINE-NEXT: affine-loop-tile{
// CHECK: affine.for {{.*}} step 8
// CHECK-NEXT: affine.for
func.func @f(%m: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    %v = affine.load %m[%i] : memref<64xf32>
    affine.store %v, %m[%i] : memref<64xf32>
  }
  return
}
