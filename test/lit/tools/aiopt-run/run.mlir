// A module of any level runs on given or random inputs; --compare holds it against the ops' references.
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python -c "import numpy; numpy.save('%t/x.npy', numpy.array([[-1, 0, 2], [3, -4, 5]], 'f4'))"
// RUN: aiopt-run %s --input x=%t/x.npy --compare reference --repeat 3 | filecheck %s
// RUN: aiopt-run --repeat=1 --input=x=%t/x.npy - < %s | filecheck %s --check-prefix=STDIN
// RUN: aiopt %s -p ai-graph-pipeline,ai-group-kernels,ai-outline-kernels -o %t/kernels.mlir
// RUN: aiopt-run %t/kernels.mlir --input x=%t/x.npy --compare reference --repeat 3 | filecheck %s
// RUN: aiopt-run %s --json --threads 2 --seed 3 | %python -m json.tool | filecheck %s --check-prefix=JSON
// RUN: aiopt-run %s --threads 2 --affinity=compact --repeat 1 | filecheck %s --check-prefix=COMPACT
// RUN: not aiopt-run %s --affinity=near 2>&1 | filecheck %s --check-prefix=AFFINITY
// COMPACT: (median of 1, 2 threads)
// AFFINITY: error: affinity is auto, none, compact or CPUs such as 0,2-3, not 'near'
// RUN: not aiopt-run %s --winograd=3 2>&1 | filecheck %s --check-prefix=WINOGRAD

// WINOGRAD: error: --winograd: invalid choice: '3' (choose from
// CHECK: {{^}}output y: 2x3 float32, min 0, max 5, mean 1.66667, difference to reference 0
// CHECK-NEXT: {{^}}time per run: {{[0-9.]+}} ms (median of 3, 1 threads)
// CHECK-NEXT: {{^}}launches: 1
// CHECK-NEXT: {{^}}arena bytes: 0
// CHECK-NEXT: {{^}}weights bytes: 0
// CHECK-NEXT: {{^}}compile time: {{[0-9.]+}} s

// STDIN: {{^}}output y: 2x3 float32, min 0, max 5, mean 1.66667{{$}}

// JSON: "threads": 2
// JSON: "name": "y"
// JSON: "dtype": "float32"
module attributes {ai.level = "graph", ai.net = "small"} {
  func.func @main(%x: tensor<2x3xf32> {ai.name = "x"}) -> (tensor<2x3xf32> {ai.name = "y"}) {
    %y = "ai.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
}
