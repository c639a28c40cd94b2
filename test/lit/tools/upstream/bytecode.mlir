// Bytecode goes through a pipe.
// RUN: aiopt %s --emit-bytecode | aiopt --cse | filecheck %s
// CHECK: arith.constant 1
// CHECK-NOT: arith.constant
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
