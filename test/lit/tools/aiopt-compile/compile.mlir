// A module becomes an artifact, which runs and says what it is.
// RUN: rm -rf %t && mkdir -p %t
// RUN: aiopt-compile %s -o %t/small.aio --threads 2
// RUN: aiopt-run %t/small.aio --repeat 2 | filecheck %s
// RUN: aiopt-run %t/small.aio --repeat 2 --threads 1 | filecheck %s --check-prefix=ONE
// RUN: aiopt-run --info %t/small.aio | filecheck %s --check-prefix=INFO
// RUN: aiopt-run --info --json %t/small.aio | %python -m json.tool | filecheck %s --check-prefix=JSON
// RUN: aiopt-compile - -o %t/stdin.aio < %s
// RUN: aiopt-compile %t/small.aio --emit=header -o - | filecheck %s --check-prefix=HEADER
// RUN: not aiopt-run %t/small.aio --compare reference 2>&1 | filecheck %s --check-prefix=COMPARE
// RUN: not aiopt-run %t/small.aio --fusion=max 2>&1 | filecheck %s --check-prefix=FUSION
// RUN: not aiopt-compile %t/small.aio --fusion=off -o %t/x.aio 2>&1 | filecheck %s --check-prefix=FUSION
// RUN: not aiopt-run %t/small.aio --shape x=2x3 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: not aiopt-compile %s --shape x=2x3 -o %t/x.aio 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: not aiopt-compile %s --emit=exe -o %t/x.aio 2>&1 | filecheck %s --check-prefix=KIND
// RUN: not aiopt-compile %s -o - 2>&1 | filecheck %s --check-prefix=STDOUT
// RUN: not aiopt-run --info %s 2>&1 | filecheck %s --check-prefix=TEXT

// CHECK: output y: 2x3 float32
// CHECK-NEXT: time per run: {{[0-9.]+}} ms (median of 2, 2 threads)
// ONE: 2, 1 threads)

// INFO: net: small
// INFO-NEXT: input x: 2x3xf32
// INFO-NEXT: output y: 2x3xf32
// INFO-NEXT: format 1, ABI version 4
// INFO: launches: 1
// INFO: version of aiopt: {{[0-9.]+}}
// INFO: flags: -O3 -relocation-model=pic
// INFO: pipeline: ai-kernels-pipeline{
// INFO: source sha256: {{[0-9a-f]+}}
// JSON: "name": "small"

// HEADER: int32_t aiopt_small_run(
// HEADER: #define AIOPT_SMALL_IN_X_SHAPE {2, 3}

// FUSION: error: --winograd, --cpu-library and --fusion take the model; in a compiled net they are decided
// COMPARE: error: --compare reference takes the model, not a compiled net
// SHAPE: error: --shape is for ONNX models
// KIND: error: --emit: invalid choice: 'exe'
// STDOUT: error: --emit=aio is not text: name a file with -o
// TEXT: error: {{.*}} is not a compiled net
module attributes {ai.level = "graph", ai.net = "small"} {
  func.func @main(%x: tensor<2x3xf32> {ai.name = "x"}) -> (tensor<2x3xf32> {ai.name = "y"}) {
    %y = "ai.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
}
