// Errors of the parser that are expected.
// RUN: aiopt %s --split-input-file --verify-diagnostics
// expected-error@+1 {{expected non-function type}}
func.func @f( {}
// -----
func.func @g(%x: i32) -> f32 {
  // expected-error@+1 {{use of value '%x' expects different type than prior uses}}
  return %x : f32
  // expected-note@-3 {{prior use here}}
}
// -----
func.func @h() {
  // expected-error@below {{operation being parsed with an unregistered dialect}}
  "strange.op"() : () -> ()
  return
}
