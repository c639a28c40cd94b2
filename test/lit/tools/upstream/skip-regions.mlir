// Ops without what is in them.
// RUN: aiopt %s --mlir-print-skip-regions | filecheck %s
// CHECK: module {...}
// CHECK-NOT: func
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
