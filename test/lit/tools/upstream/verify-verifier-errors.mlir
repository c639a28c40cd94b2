// Errors of verifiers that are expected, above, below and on their line.
// RUN: aiopt %s --split-input-file --verify-diagnostics
func.func @f() -> i32 {
  return // expected-error {{'func.return' op has 0 operands}}
}
// -----
func.func @g() -> i32 {
  // expected-error-re@below {{{{.*}} has {{[0-9]}} operands}}
  return
}
// -----
func.func @h() -> i32 {
  return
  // expected-error@above {{has 0 operands, but enclosing function (@h) returns 1}}
}
