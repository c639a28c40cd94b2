// Input that cannot be used: an error with the place, status 1, and no output file.
// RUN: rm -rf %t && mkdir -p %t
// RUN: not aiopt %t/absent.mlir -o %t/out.mlir 2>&1 | filecheck %s --check-prefix=ABSENT
// RUN: not ls %t/out.mlir
// RUN: not aiopt %t 2>&1 | filecheck %s --check-prefix=FOLDER
// RUN: echo 'func.func @f( {}' > %t/syntax.mlir
// RUN: not aiopt %t/syntax.mlir 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not aiopt < %t/syntax.mlir 2>&1 | filecheck %s --check-prefix=STDIN
// RUN: not aiopt %s 2>&1 | filecheck %s --check-prefix=VERIFY
// RUN: echo '"strange.op"() : () -> ()' | not aiopt 2>&1 | filecheck %s --check-prefix=DIALECT
// RUN: echo 'module attributes {ai.level = "attic"} {}' | not aiopt 2>&1 | filecheck %s --check-prefix=LEVEL
// RUN: echo 'module attributes {ai.weights = 1} {}' | not aiopt 2>&1 | filecheck %s --check-prefix=WEIGHTS
// RUN: echo 'module attributes {ai.level = "llvm"} {func.func @f() {return}}' | not aiopt 2>&1 | filecheck %s --check-prefix=SPEC

// ABSENT: {{^}}cannot open input file '{{.*}}absent.mlir': No such file or directory
// FOLDER: {{^}}cannot open input file '{{.*}}': Is a directory
// SYNTAX: {{syntax.mlir:1:14: error: expected non-function type$}}
// SYNTAX-NEXT: {{^}}func.func @f( {}
// SYNTAX-NEXT: {{^}}             ^
// STDIN: {{^}}<stdin>:1:14: error: expected non-function type
// VERIFY: {{^}}error: ai.relu: result 'out' has type tensor<3xf32>, but must have tensor<2xf32> (at '{{.*}}input-errors.mlir':30:8)
// DIALECT: {{^}}<stdin>:1:13: error: operation being parsed with an unregistered dialect. If this is intended, please use -allow-unregistered-dialect
// LEVEL: {{^}}error: ai.level must be one of graph, {{.*}}llvm, not "attic"
// WEIGHTS: {{^}}error: ai.weights must be the name of a safetensors file, not 1 : i64
// SPEC: {{^}}error: level llvm does not allow 'func.func'

// The shape rule below is checked by aiopt, not by IRDL.

func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {
  %y = "ai.relu"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
