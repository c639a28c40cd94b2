// Calls of private functions disappear, and then the functions.
// RUN: aiopt %s --inline --symbol-dce | filecheck %s
// CHECK-NOT: @callee
// CHECK: arith.negf
// CHECK-NOT: @callee
func.func private @callee(%x: f32) -> f32 {
  %y = arith.negf %x : f32
  return %y : f32
}
func.func @caller(%x: f32) -> f32 {
  %y = call @callee(%x) : (f32) -> f32
  return %y : f32
}
