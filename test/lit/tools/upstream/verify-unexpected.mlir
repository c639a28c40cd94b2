// What is expected and does not come, and what comes and is not expected, are errors.
// RUN: not aiopt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s
// CHECK: verify-unexpected.mlir:7:3: error: unexpected error: 'func.return' op has 0 operands
// CHECK: verify-unexpected.mlir:10:4: error: expected error "this does not come" was not produced

func.func @f() -> i32 {
  return
}
// -----
// expected-error@+1 {{this does not come}}
func.func @g() { return }
