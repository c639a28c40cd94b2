// A reproducer has its pipeline in it.
// RUN: aiopt %s --cse --mlir-generate-reproducer=%t -o /dev/null
// RUN: filecheck %s --input-file %t
// RUN: aiopt %t --run-reproducer --canonicalize --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=AGAIN
// CHECK: mlir_reproducer: {
// CHECK-NEXT: pipeline: "builtin.module(cse)"
// AGAIN: Pass Manager with 2 passes
// AGAIN: arith.constant 2
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
