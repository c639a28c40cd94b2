// Passes as flags and a pipeline exclude each other.
// RUN: not aiopt %s --cse --pass-pipeline='builtin.module(cse)' 2>&1 | filecheck %s
// CHECK: error: '-pass-pipeline' option can't be used with individual pass options
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
