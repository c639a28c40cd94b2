func.func @a() -> i32 {
  return
}
// -----
func.func @b() {
  // expected-error@+1 {{this does not come}}
  return
  // expected-warning@above {{nor this}}
}
// -----
func.func @c() -> i32 {
  // expected-remark@+1 {{has 0 operands}}
  return
}
