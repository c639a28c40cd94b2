// A constant passes through a branch that is always taken.
// RUN: aiopt %s --sccp | filecheck %s
// CHECK: ^bb1
// CHECK: return %{{c7.*}} : i32
func.func @f() -> i32 {
  %c = arith.constant 7 : i32
  cf.br ^bb1(%c : i32)
^bb1(%x: i32):
  return %x : i32
}
