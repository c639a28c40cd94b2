// Dialects nobody knows are refused unless they are allowed.
// RUN: not aiopt %s 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: aiopt %s --allow-unregistered-dialect | filecheck %s
// REFUSED: unregistered.mlir:6:13: error: operation being parsed with an unregistered dialect
// CHECK: "strange.op"() : () -> ()
"strange.op"() : () -> ()
