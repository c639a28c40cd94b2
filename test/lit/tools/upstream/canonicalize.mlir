// Constants are folded and moved to the right.
// RUN: aiopt %s --canonicalize | filecheck %s
// CHECK: %[[C:.*]] = arith.constant 2 : i32
// CHECK-NEXT: %[[S:.*]] = arith.addi %{{.*}}, %[[C]] : i32
// CHECK-NEXT: return %[[S]]
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
