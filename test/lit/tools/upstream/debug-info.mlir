// Locations, with aliases and in place.
// RUN: aiopt %s --mlir-print-debuginfo | filecheck %s
// RUN: aiopt %s --mlir-print-debuginfo --mlir-print-local-scope | filecheck %s --check-prefix=LOCAL
// CHECK: return %{{.*}} loc(#[[A:loc[0-9]*]])
// CHECK: #[[A]] = loc("here")
// LOCAL: return %{{.*}} loc("here")
func.func @f(%x: i32) -> i32 {
  return %x : i32 loc("here")
}
