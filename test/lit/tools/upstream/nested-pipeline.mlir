// A pipeline for functions, options in braces.
// RUN: aiopt %s --pass-pipeline='builtin.module(func.func(canonicalize{max-iterations=2},cse))' | filecheck %s
// CHECK: arith.constant 2
// CHECK-NEXT: arith.addi
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
