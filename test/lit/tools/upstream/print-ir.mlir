// The IR around passes, as banners say; only where it changed, if that is asked for.
// RUN: aiopt %s --cse --mlir-print-ir-before-all -o /dev/null 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: aiopt %s --cse --cse --mlir-print-ir-after-all --mlir-print-ir-after-change -o /dev/null 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: aiopt %s --canonicalize --cse --mlir-print-ir-after=cse -o /dev/null 2>&1 | filecheck %s --check-prefix=ONE
// BEFORE: IR Dump Before CSE (cse)
// BEFORE: arith.constant 1
// BEFORE: arith.constant 1
// CHANGE: IR Dump After CSE (cse)
// CHANGE-NOT: IR Dump
// ONE-NOT: Canonicalizer
// ONE: IR Dump After CSE (cse)
// ONE-NOT: IR Dump
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
