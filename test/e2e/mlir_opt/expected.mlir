func.func @a() -> i32 {
  // expected-error@+1 {{'func.return' op has 0 operands}}
  return
}
// -----
func.func @b() -> i32 {
  // expected-error-re@below {{{{.*}} has {{[0-9]}} operands}}
  return
}
// -----
func.func @c(%x: f32) -> i32 {
  return %x : f32 // expected-error {{type of return operand 0}}
}
// -----
// expected-note@+2 {{prior use here}}
// expected-error@+4 {{use of value '%x' expects different type}}
func.func @d(%x: f32) -> i32 {
  // An ordinary comment.

  %y = arith.addi %x, %x : i32
  return %y : i32
}
