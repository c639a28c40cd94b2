// Passes given as flags run in the order of the flags.
// RUN: aiopt %s --cse --canonicalize --dump-pass-pipeline 2>&1 >/dev/null | filecheck %s --check-prefix=CSE-FIRST
// RUN: aiopt %s --canonicalize --cse --dump-pass-pipeline 2>&1 >/dev/null | filecheck %s --check-prefix=CSE-LAST
// CSE-FIRST: Pass Manager with 2 passes:
// CSE-FIRST: cse,
// CSE-FIRST-NEXT: canonicalize{{.*}}
// CSE-LAST: canonicalize{{.*}},
// CSE-LAST-NEXT: cse
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
