// RUN: aiopt -p 'ai-group-kernels{fusion=max vector-bits=256 cores=1},ai-outline-kernels,ai-select-route{vector-bits=256 fma=true},ai-pack-weights' %s -o %t.bands.mlir
// RUN: sed -E 's/, ai.weights = "[^"]*"//' %t.bands.mlir > %t.mlir
// RUN: sed -E 's/ai.stages = \[.*\], ai.template/ai.stages = 3 : i64, ai.template/' %t.mlir | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=NUMBER
// RUN: sed -E 's/ai.stages = \[.*\], ai.template/ai.stages = [], ai.template/' %t.mlir | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=EMPTY
// RUN: sed -E 's/name = "matmul"/name = 3 : i64/' %t.mlir | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=NAME
// RUN: sed -E 's/, [{][^}]*[}][]], ai.template/, {name = "transpose", tile = 8 : i64}], ai.template/' %t.mlir | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: sed -E 's/name = "bands", rows = 8/name = "bands", rows = 3/' %t.mlir | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=ROWS
// RUN: sed -E 's/ai.template = \{.*\}\}/ai.template = "bands"}/' %t.mlir | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=TEMPLATE
// RUN: sed -E 's/ai.route = "template"/ai.route = 3 : i64/' %t.mlir | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=ROUTE
// NUMBER: error: level kernels does not allow 'func.func' @matmul_matmul_0 with ai.stages = 3 : i64: the name of a template and its numbers each
// EMPTY: error: @matmul_matmul_0 is computed in bands, but ai.stages is empty
// NAME: error: level kernels does not allow 'func.func' @matmul_matmul_0 with ai.stages = [{{.*}}]: the name of a template and its numbers each
// OTHER: error: the template 'transpose' does not cover @matmul_matmul_0
// ROWS: error: stages cannot be computed in bands of 3 rows
// TEMPLATE: error: level kernels does not allow 'func.func' @matmul_matmul_0 with ai.template = "bands": the name of a template and its numbers
// ROUTE: error: level kernels does not allow 'func.func' @matmul_matmul_0 with ai.route = 3 : i64: a word
module attributes {ai.level = "graph", ai.net = "net"} {
  func.func @main(%x: tensor<8x16xf32> {ai.name = "x"}) -> (tensor<8x16xf32> {ai.name = "y"}) {
    %v = arith.constant dense<0.5> : tensor<16x16xf32>
    %w = arith.constant dense<0.25> : tensor<16x16xf32>
    %0 = "ai.matmul"(%x, %v) {acc = f32} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = "ai.matmul"(%0, %w) {acc = f32} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
}
