// Values of constants travel in a safetensors file beside the text, and only those that are still used.
// RUN: rm -rf %t && mkdir -p %t/other
// RUN: cp %s %t/net.mlir
// RUN: %python %S/Inputs/write_weights.py %t/net.safetensors used=2 unused=3
// RUN: aiopt %t/net.mlir -o %t/other/copy.mlir
// RUN: filecheck %s --input-file %t/other/copy.mlir --check-prefix=FILE
// RUN: %python %S/Inputs/show_weights.py %t/other/copy.safetensors | filecheck %s --check-prefix=KEYS
// RUN: aiopt %t/other/copy.mlir -p ai-dce | filecheck %s --check-prefix=ELIDED

// The standard output and --elide-weights have no file beside them; such text is refused.
// RUN: aiopt %t/net.mlir | filecheck %s --check-prefix=ELIDED
// RUN: aiopt %t/net.mlir --elide-weights -o %t/elided.mlir
// RUN: filecheck %s --input-file %t/elided.mlir --check-prefix=ELIDED
// RUN: not ls %t/elided.safetensors
// RUN: not aiopt %t/elided.mlir 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: rm %t/net.safetensors
// RUN: not aiopt %t/net.mlir 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not aiopt %t/other/copy.mlir -o %t/other/new.safetensors 2>&1 | filecheck %s --check-prefix=NAME

// FILE: module attributes {ai.level = "graph", ai.weights = "copy.safetensors"}
// KEYS: used [0.0, 1.0]
// KEYS-NOT: unused
// ELIDED: module attributes {ai.level = "graph", ai.weights = "elided"}
// REFUSED: {{^}}error: this text was written without its weights (ai.weights = "elided") and cannot be loaded: write it to a file (-o)
// MISSING: {{^}}error: the weights '{{.*}}net.safetensors' (attribute ai.weights) are missing: move the file beside the text
// NAME: {{^}}error: cannot write '{{.*}}new.safetensors': the weights go into a file of this name; end it in .mlir
module attributes {ai.level = "graph", ai.weights = "net.safetensors"} {
  func.func @main(%x: tensor<2xf32> {ai.name = "x"}) -> (tensor<2xf32> {ai.name = "y"}) {
    %w = "ai.constant"() {key = "used"} : () -> tensor<2xf32>
    %y = "ai.add"(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  }
}
