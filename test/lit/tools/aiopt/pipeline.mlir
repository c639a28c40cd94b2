// Passes of aiopt and of upstream run in the order given, in every spelling of the command.
// RUN: aiopt -p 'canonicalize,ai-canonicalize,ai-dce,cse' %s | filecheck %s
// RUN: aiopt %s --pass-pipeline='builtin.module(func.func(canonicalize,cse),ai-canonicalize,ai-dce)' | filecheck %s
// RUN: aiopt %s -p 'func.func(canonicalize,ai-group-kernels)' | filecheck %s --check-prefix=GROUPS
// RUN: aiopt -pass-pipeline='builtin.module( canonicalize , ai-canonicalize , ai-dce )' < %s | filecheck %s
// RUN: aiopt - --pass-pipeline 'canonicalize,ai-canonicalize,ai-dce' -o - < %s | filecheck %s
// RUN: aiopt %s -o %t.mlir -p canonicalize,ai-canonicalize,ai-dce
// RUN: filecheck %s --input-file %t.mlir

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>
// CHECK-NEXT: %[[Y:.*]] = "ai.relu"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[Y]] : tensor<2x3xf32>

// GROUPS-NOT: arith.constant
// GROUPS: "ai.relu"{{.*}}ai.group = 0
module attributes {ai.level = "graph"} {
  func.func @main(%x: tensor<2x3xf32> {ai.name = "x"}) -> (tensor<2x3xf32> {ai.name = "y"}) {
    %unused = arith.constant dense<1.0> : tensor<2x3xf32>
    %a = "ai.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %b = "ai.relu"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %b : tensor<2x3xf32>
  }
}
