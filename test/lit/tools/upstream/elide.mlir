// Long constants are elided on demand.
// RUN: aiopt %s --mlir-elide-elementsattrs-if-larger=3 | filecheck %s
// RUN: aiopt %s | filecheck %s --check-prefix=WHOLE
// CHECK: dense_resource<__elided__>
// WHOLE: dense<[1, 2, 3, 4]>
func.func @f() -> tensor<4xi32> {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  return %c : tensor<4xi32>
}
