// `any` nests a pipeline into ops of any name.
// RUN: aiopt %s --pass-pipeline='builtin.module(any(cse))' | filecheck %s
// CHECK: arith.constant 1
// CHECK-NOT: arith.constant
// CHECK: arith.addi
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
