// Printing and reading again changes nothing.
// RUN: aiopt %s --verify-roundtrip | filecheck %s
// CHECK: func.func @f
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
