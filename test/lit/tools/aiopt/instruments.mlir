// Passes of aiopt are seen as upstream's are: around them, in times, in statistics; nested ones, too.
// RUN: aiopt %s -p 'ai-cse,func.func(ai-group-kernels,cse)' --mlir-print-ir-after-all -o /dev/null 2>&1 | filecheck %s --check-prefix=ALL
// RUN: aiopt %s --ai-cse --ai-dce --mlir-print-ir-before=ai-dce -o /dev/null 2>&1 | filecheck %s --check-prefix=ONE
// RUN: aiopt %s --ai-cse --mlir-print-ir-after-all --mlir-print-ir-module-scope --mlir-print-skip-regions -o /dev/null 2>&1 | filecheck %s --check-prefix=SCOPE
// RUN: rm -rf %t && aiopt %s --ai-cse --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t -o /dev/null
// RUN: filecheck %s --input-file %t/builtin_module_no-symbol-name/0_ai-cse.mlir --check-prefix=TREE
// RUN: aiopt %s -p 'ai-cse,func.func(ai-group-kernels{max-ops=8},cse)' --mlir-timing -o /dev/null 2>&1 | filecheck %s --check-prefix=TIMING
// RUN: aiopt %s --ai-cse --mlir-timing --mlir-output-format=json -o /dev/null 2>&1 | %python -m json.tool | filecheck %s --check-prefix=JSON
// RUN: aiopt %s -p 'ai-cse,func.func(ai-group-kernels,cse)' --mlir-pass-statistics -o /dev/null 2>&1 | filecheck %s --check-prefix=STATISTICS
// RUN: aiopt %s --ai-cse --ai-cse --cse --mlir-pass-statistics --mlir-pass-statistics-display=list -o /dev/null 2>&1 | filecheck %s --check-prefix=LIST
// RUN: not aiopt %s --ai-cse --mlir-print-ir-after=ai-ces 2>&1 | filecheck %s --check-prefix=UNKNOWN

// ALL: IR Dump After CommonSubexpressionElimination (ai-cse) //
// ALL-NEXT: module attributes
// ALL: IR Dump After GroupKernels (ai-group-kernels) //
// ALL-NEXT: func.func @main
// ALL: ai.group = 0
// ALL: IR Dump After CSE (cse) //
// ONE-NOT: IR Dump Before Common
// ONE: IR Dump Before DeadCodeElimination (ai-dce) //
// SCOPE: IR Dump After CommonSubexpressionElimination (ai-cse) ('builtin.module' operation) //
// SCOPE-NEXT: module attributes {{.*}}{...}
// TREE: IR Dump After CommonSubexpressionElimination (ai-cse) //
// TIMING: Execution time report
// TIMING: {{\)  Parser}}
// TIMING: {{\)  CommonSubexpressionElimination}}
// TIMING: {{\)  'func.func' Pipeline}}
// TIMING: {{\)    GroupKernels}}
// TIMING: {{\)    CSE}}
// TIMING: {{\)  Total}}
// JSON: "name": "CommonSubexpressionElimination"
// STATISTICS: Pass statistics report
// STATISTICS: {{^}}CommonSubexpressionElimination
// STATISTICS-NEXT: {{^}}  (S) 1 num-cse'd - Number of operations CSE'd
// STATISTICS-NEXT: {{^}}'func.func' Pipeline
// STATISTICS-NEXT: {{^}}  GroupKernels
// STATISTICS-NEXT: {{^}}    (S) 1 num-kernels - Number of kernels
// STATISTICS-NEXT: {{^}}    (S) 2 num-fused   - Number of ops that share the kernel of another
// STATISTICS-NEXT: {{^}}  CSE
// LIST: {{^}}  CSE
// LIST: {{^}}  CommonSubexpressionElimination
// LIST-NEXT: {{^}}    (S) 1 num-cse'd - Number of operations CSE'd
// LIST-NOT: CommonSubexpressionElimination
// UNKNOWN: for the --mlir-print-ir-after option: Cannot find option named 'ai-ces'!
module attributes {ai.level = "graph"} {
  func.func @main(%x: tensor<2x3xf32> {ai.name = "x"}) -> (tensor<2x3xf32> {ai.name = "y"}) {
    %a = "ai.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %b = "ai.neg"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %c = "ai.neg"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %d = "ai.add"(%c, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return %d : tensor<2x3xf32>
  }
}
