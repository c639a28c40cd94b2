// A flag that is nearly one.
// RUN: not aiopt %s --canonicalise 2>&1 | filecheck %s
// CHECK: Unknown command line argument '--canonicalise'.
// CHECK-NEXT: Did you mean '--canonicalize'?
module {}
