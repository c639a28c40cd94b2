// The first pass that makes the numbers wrong, the op and the node; exit status 2. Nothing wrong: 0.
// RUN: rm -rf %t && mkdir -p %t
// RUN: aiopt-bisect %s | filecheck %s --check-prefix=RIGHT
// RUN: env PYTHONPATH=%S/Inputs not aiopt-bisect %s --load-python=planted --reproducer=%t/r.mlir > %t/found
// RUN: filecheck %s --input-file %t/found
// RUN: filecheck %s --input-file %t/r.mlir --check-prefix=REPRODUCER
// RUN: aiopt --run-reproducer %t/r.mlir | filecheck %s --check-prefix=AGAIN

// RIGHT: {{^}}no pass is at fault: {{[0-9]+}} steps, all within 0.0001{{$}}

// CHECK: {{^}}first wrong after: ai-outline-kernels{{.}}views=true{{.}} (level kernels){{$}}
// CHECK-NEXT: {{^}}output y: off by {{[0-9.]+}} of its largest value{{$}}
// CHECK-NEXT: {{^}}op: ai.sigmoid, off by {{[0-9.]+}} of its largest value{{$}}
// CHECK-NEXT: {{^}}ONNX node: Relu_1{{$}}
// CHECK-NEXT: {{^}}reproducer: {{.*}}r.mlir{{$}}

// REPRODUCER: // ai-outline-kernels{{.}}views=true{{.}} makes the numbers wrong. Run it with: aiopt --run-reproducer FILE
// REPRODUCER: ai.level = "graph"
// REPRODUCER: ai.group
// REPRODUCER: mlir_reproducer: {
// REPRODUCER-NEXT: pipeline: "builtin.module(ai-outline-kernels{{.}}views=true{{.}})"

// AGAIN: ai.level = "kernels"
// AGAIN: func.func private @neg_relu_0

// RUN: not aiopt-bisect %s --oracle=onnxruntime 2>&1 | filecheck %s --check-prefix=ORACLE
// RUN: not aiopt-bisect %s --load-python=planted 2>&1 | filecheck %s --check-prefix=MODULE
// RUN: not aiopt-bisect %t/nowhere.mlir 2>&1 | filecheck %s --check-prefix=FILE
// RUN: aiopt %s -p ai-kernels-pipeline,ai-select-route,convert-ai-to-linalg,ai-loops-pipeline,ai-cpu-lower-pipeline -o %t/llvm.mlir
// RUN: not aiopt-bisect %t/llvm.mlir 2>&1 | filecheck %s --check-prefix=LEVEL
// ORACLE: {{^}}error: --oracle onnxruntime takes an ONNX model; for MLIR there is --oracle reference
// MODULE: {{^}}error: --load-python=planted cannot be loaded: ModuleNotFoundError
// FILE: {{^}}error: cannot read '{{.*}}nowhere.mlir': No such file or directory
// LEVEL: {{^}}error: aiopt-bisect takes a model, or IR in which @main is a list of calls on buffers
module attributes {ai.level = "graph", ai.net = "small"} {
  func.func @main(%x: tensor<2x3xf32> {ai.name = "x"}) -> (tensor<2x3xf32> {ai.name = "y"}) {
    %n = "ai.neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("Neg_0")
    %y = "ai.relu"(%n) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("Relu_1")
    return %y : tensor<2x3xf32>
  }
}
