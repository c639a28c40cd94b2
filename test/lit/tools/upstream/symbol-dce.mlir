// Private symbols that nothing uses disappear.
// RUN: aiopt %s --symbol-dce | filecheck %s
// CHECK-NOT: @unused
// CHECK: @kept
func.func private @unused()
func.func @kept() { return }
