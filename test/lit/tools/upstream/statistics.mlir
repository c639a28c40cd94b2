// What passes counted, by pass and by name.
// RUN: aiopt %s --cse --canonicalize --mlir-pass-statistics -o /dev/null 2>&1 | filecheck %s
// RUN: aiopt %s --cse --cse --mlir-pass-statistics --mlir-pass-statistics-display=list -o /dev/null 2>&1 | filecheck %s --check-prefix=LIST
// CHECK: Pass statistics report
// CHECK: CSE
// CHECK-NEXT: (S) 2 num-cse'd
// CHECK: Canonicalizer
// LIST: CSE
// LIST-NEXT: (S) 2 num-cse'd
// LIST-NOT: {{^  CSE}}
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
