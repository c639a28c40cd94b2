// Products go to a library that is asked for, each task a part of the rows; what follows is done on them in the task.
// RUN: aiopt -p 'ai-select-route{library=openblas cores=2 vector-bits=256},ai-pack-weights' %s \
// RUN:   | filecheck %s --check-prefix=ROUTE
// RUN: aiopt -p 'ai-select-route{library=onednn cores=2 vector-bits=256},ai-pack-weights,convert-ai-to-linalg' %s \
// RUN:   | filecheck %s --check-prefix=CALL
// RUN: aiopt -p 'ai-select-route{library=onednn},ai-pack-weights,convert-ai-to-linalg,ai-loops-pipeline' %s -o %t.mlir
// RUN: aiopt -p 'ai-cpu-lower-pipeline{features=avx2}' %t.mlir | filecheck %s --check-prefix=LLVM
// RUN: not aiopt -p 'ai-select-route{library=mkl}' %s 2>&1 | filecheck %s --check-prefix=NAME
// NAME: error: ai-select-route: option 'library' must be one of none, onednn, openblas, not 'mkl'
// RUN: aiopt -p 'ai-select-route{library=onednn},ai-pack-weights,convert-ai-to-linalg' %s -o %t.mlir
// RUN: sed -i 's/call @aiopt_onednn_sgemm(.*/call @softmax(%arg0, %arg2) : (memref<8x16xf32>, memref<8x16xf32>) -> ()/' \
// RUN:   %t.mlir && not aiopt -p canonicalize %t.mlir 2>&1 | filecheck %s --check-prefix=OTHER
// OTHER: error: {{.*}}level tensor does not allow 'func.call' in @dense: kernels call functions of libraries only

// The weight stays as it is. A softmax is no product.
// ROUTE: call @dense(%{{.*}}, %{{.*}}) {{.*}}tensor<16x16xf32>
// ROUTE: @dense({{.*}} ai.route = "library", ai.template = {lanes = 8 : i64, name = "openblas", nr = 16 : i64, rows = 8 : i64}
// ROUTE: @softmax({{.*}} ai.route = "template"

// CALL: func.func private @aiopt_onednn_sgemm(index, index, index, index, index, index, index) attributes {ai.library = "onednn"}
// CALL: func.func private @dense(
// CALL: scf.forall
// CALL: call @aiopt_onednn_sgemm(
// CALL: arith.maximumf

// LLVM-DAG: llvm.func @aiopt_onednn_sgemm(i64, i64, i64, i64, i64, i64, i64)
// LLVM-DAG: @aiopt_net_features("avx2,library-onednn\00")
module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%x: tensor<8x16xf32> {ai.name = "x"}) -> (tensor<8x16xf32> {ai.name = "y"}) {
    %w = arith.constant dense<0.5> : tensor<16x16xf32>
    %0 = call @dense(%x, %w) {ai.nodes = ["MatMul"]} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = call @softmax(%0) {ai.nodes = ["Softmax"]} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  func.func private @dense(%a: tensor<8x16xf32>, %b: tensor<16x16xf32>) -> tensor<8x16xf32>
      attributes {ai.kernel, ai.ops = ["ai.matmul", "ai.relu"]} {
    %0 = "ai.matmul"(%a, %b) {acc = f32} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = "ai.relu"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  func.func private @softmax(%a: tensor<8x16xf32>) -> tensor<8x16xf32> attributes {ai.kernel, ai.ops = ["ai.softmax"]} {
    %0 = "ai.softmax"(%a) {axis = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
