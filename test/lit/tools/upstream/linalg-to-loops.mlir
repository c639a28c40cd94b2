// A named op becomes three loops.
// RUN: aiopt %s --convert-linalg-to-loops | filecheck %s
// CHECK-COUNT-3: scf.for
// CHECK: arith.mulf
// CHECK-NOT: linalg.matmul
func.func @f(%a: memref<4x8xf32>, %b: memref<8x2xf32>, %c: memref<4x2xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x2xf32>) outs(%c : memref<4x2xf32>)
  return
}
