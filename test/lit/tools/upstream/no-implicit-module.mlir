// An op stands for itself.
// RUN: aiopt %s --no-implicit-module | filecheck %s
// RUN: aiopt %s | filecheck %s --check-prefix=MODULE
// CHECK-NOT: module
// CHECK: func.func @f
// MODULE: module {
func.func @f() { return }
