// Ops in their generic form, which reads back.
// RUN: aiopt %s --mlir-print-op-generic | filecheck %s
// RUN: aiopt %s --mlir-print-op-generic | aiopt | filecheck %s --check-prefix=BACK
// CHECK: "builtin.module"() ({
// CHECK: "func.func"() <{{.*}}sym_name = "f"
// BACK: func.func @f(
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
