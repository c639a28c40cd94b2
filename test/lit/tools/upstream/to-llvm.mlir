// All the way to the dialect llvm.
// RUN: aiopt %s --pass-pipeline='builtin.module(convert-arith-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)' | filecheck %s
// CHECK: llvm.func @f(%{{.*}}: i32) -> i32
// CHECK: llvm.add
// CHECK: llvm.return
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
