// RUN: aiopt -p 'ai-select-route{vector-bits=256 registers=16 fma=true cores=2}' %s | filecheck %s --check-prefix=ROUTE
// RUN: aiopt -p 'ai-select-route{vector-bits=256 registers=16 fma=true cores=2},convert-ai-to-linalg,canonicalize,cse' %s | filecheck %s
// RUN: sed -e 's/ai.kernel,/ai.kernel, ai.route = "template", ai.template = {name = "rows", lanes = 8 : i64},/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=NUMBERS

// Four vectors at a time are one of 32 lanes; two rows at a time.
// ROUTE-LABEL: func.func private @softmax(
// ROUTE-SAME: ai.template = {columns = 100 : i64, fma = 1 : i64, lanes = 8 : i64, name = "rows", rows = 2 : i64, together = 2 : i64, vectors = 4 : i64}
// ROUTE-LABEL: func.func private @mean(
// ROUTE-SAME: name = "rows"
// Rows of two axes that are no neighbours, another element type, a cheap function of elements, short rows.
// ROUTE-LABEL: func.func private @sum_apart(
// ROUTE-SAME: ai.route = "structured"
// ROUTE-LABEL: func.func private @softmax_f64(
// ROUTE-SAME: ai.route = "structured"
// ROUTE-LABEL: func.func private @relu(
// ROUTE-SAME: ai.route = "structured"
// ROUTE-LABEL: func.func private @softmax_short(
// ROUTE-SAME: ai.route = "structured"

// CHECK-LABEL: func.func private @softmax(
// CHECK: scf.forall (%{{.*}}) in (8) {
// The largest element: three steps, then the last four columns; e^(x - largest), kept in the result, and its sum in f64;
// one division a row.
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<32xf32>, vector<32xf32>)
// CHECK: arith.cmpf ogt
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>)
// CHECK: vector.store
// CHECK: arith.extf {{.*}} : vector<8xf32> to vector<8xf64>
// CHECK-COUNT-2: arith.divf {{.*}} : vector<8xf32>
// CHECK-NOT: arith.divf
// CHECK: scf.for
// CHECK: vector.store
// CHECK-NOT: linalg

// The mean of what is not last: a row a lane, so that nothing is joined at the end.
// CHECK-LABEL: func.func private @mean(
// CHECK: scf.forall
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<{{[0-9]+}}xf32>
// CHECK-NOT: vector.extract_strided_slice
// CHECK: vector.store

// NUMBERS: error: @softmax: the template 'rows' takes columns, fma, lanes, rows, together, vectors, not lanes

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<16x100xf32> {ai.name = "x"}) -> (tensor<16x100xf32> {ai.name = "y"}) {
    %0 = call @softmax(%x) : (tensor<16x100xf32>) -> tensor<16x100xf32>
    return %0 : tensor<16x100xf32>
  }
  func.func private @softmax(%x: tensor<16x100xf32>) -> tensor<16x100xf32> attributes {ai.kernel, ai.ops = ["ai.softmax"]} {
    %0 = "ai.softmax"(%x) {axis = 1 : i64} : (tensor<16x100xf32>) -> tensor<16x100xf32>
    return %0 : tensor<16x100xf32>
  }
  func.func private @mean(%x: tensor<2x7x7x64xf32>) -> tensor<2x1x1x64xf32> attributes {ai.kernel, ai.ops = ["ai.reduce_mean"]} {
    %0 = "ai.reduce_mean"(%x) {axes = array<i64: 1, 2>, keepdims = true} : (tensor<2x7x7x64xf32>) -> tensor<2x1x1x64xf32>
    return %0 : tensor<2x1x1x64xf32>
  }
  func.func private @sum_apart(%x: tensor<7x8x64xf32>) -> tensor<1x8x1xf32> attributes {ai.kernel, ai.ops = ["ai.reduce_sum"]} {
    %0 = "ai.reduce_sum"(%x) {axes = array<i64: 0, 2>, keepdims = true} : (tensor<7x8x64xf32>) -> tensor<1x8x1xf32>
    return %0 : tensor<1x8x1xf32>
  }
  func.func private @softmax_f64(%x: tensor<16x100xf64>) -> tensor<16x100xf64> attributes {ai.kernel, ai.ops = ["ai.softmax"]} {
    %0 = "ai.softmax"(%x) {axis = 1 : i64} : (tensor<16x100xf64>) -> tensor<16x100xf64>
    return %0 : tensor<16x100xf64>
  }
  func.func private @relu(%x: tensor<16x100xf32>) -> tensor<16x100xf32> attributes {ai.kernel, ai.ops = ["ai.relu"]} {
    %0 = "ai.relu"(%x) : (tensor<16x100xf32>) -> tensor<16x100xf32>
    return %0 : tensor<16x100xf32>
  }
  func.func private @softmax_short(%x: tensor<16x5xf32>) -> tensor<16x5xf32> attributes {ai.kernel, ai.ops = ["ai.softmax"]} {
    %0 = "ai.softmax"(%x) {axis = 1 : i64} : (tensor<16x5xf32>) -> tensor<16x5xf32>
    return %0 : tensor<16x5xf32>
  }
}
