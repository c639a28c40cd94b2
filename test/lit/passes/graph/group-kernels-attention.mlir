// RUN: aiopt -p ai-group-kernels %s | filecheck %s
// RUN: aiopt -p 'ai-group-kernels{max-ops=4}' %s | filecheck %s --check-prefix=FEW
// RUN: aiopt -p 'ai-group-kernels,ai-outline-kernels,ai-select-route' %s | filecheck %s --check-prefix=ROUTE

// Both products of attention are one kernel, which begins with the transposes of its operands and ends with that of
// its result; without the scores the second product still reads its values transposed.
// ROUTE: call @matmul_div_add_softmax_plus1_0(%arg0, %arg1, %arg3, %arg2)
// ROUTE: call @softmax_1(
// ROUTE: call @matmul_2(
// ROUTE: @matmul_div_add_softmax_plus1_0({{.*}}) -> tensor<1x6x2x8xf32>
// ROUTE-SAME: ai.ops = ["ai.transpose", "ai.transpose", "ai.matmul", "ai.div", "ai.add", "ai.softmax", "ai.transpose", "ai.matmul", "ai.transpose"]
// ROUTE-SAME: ai.template = {{{.*}}name = "attention"
// ROUTE: @matmul_2
// ROUTE-SAME: ai.template = {{{.*}}name = "matmul"
module attributes {ai.level = "graph", ai.net = "net"} {
  // CHECK-LABEL: func.func @main
  func.func @main(%q: tensor<1x6x2x8xf32>, %k: tensor<1x5x2x8xf32>, %v: tensor<1x5x2x8xf32>, %mask: tensor<1x1x1x5xf32>, %s: tensor<6x5xf32>) -> (tensor<1x6x2x8xf32>, tensor<6x6xf32>, tensor<6x5xf32>) {
    %two = arith.constant dense<2.0> : tensor<f32>
    // CHECK: "ai.transpose"(%arg0) {ai.group = 0 : i64
    // CHECK: "ai.transpose"(%arg1) {ai.group = 0 : i64
    // CHECK: "ai.matmul"({{.*}}ai.group = 0 : i64
    // CHECK: "ai.div"({{.*}}ai.group = 0 : i64
    // CHECK: "ai.add"({{.*}}ai.group = 0 : i64
    // CHECK: "ai.softmax"({{.*}}ai.group = 0 : i64
    // CHECK: "ai.transpose"(%arg2) {ai.group = 0 : i64
    // CHECK: "ai.matmul"({{.*}}ai.group = 0 : i64
    // CHECK: "ai.transpose"({{.*}}ai.group = 0 : i64
    // FEW: "ai.transpose"(%arg0) {ai.group = 0 : i64
    // FEW: "ai.transpose"(%arg1) {ai.group = 0 : i64
    // FEW: "ai.matmul"({{.*}}ai.group = 0 : i64
    // FEW: "ai.div"({{.*}}ai.group = 0 : i64
    // FEW: "ai.add"({{.*}}ai.group = 0 : i64
    // FEW: "ai.softmax"({{.*}}ai.group = 1 : i64
    // FEW: "ai.transpose"(%arg2) {ai.group = 2 : i64
    // FEW: "ai.matmul"({{.*}}ai.group = 2 : i64
    // FEW: "ai.transpose"({{.*}}ai.group = 2 : i64
    %0 = "ai.transpose"(%q) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x6x2x8xf32>) -> tensor<1x2x6x8xf32>
    %1 = "ai.transpose"(%k) {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x5x2x8xf32>) -> tensor<1x2x8x5xf32>
    %2 = "ai.matmul"(%0, %1) {acc = f32} : (tensor<1x2x6x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x6x5xf32>
    %3 = "ai.div"(%2, %two) : (tensor<1x2x6x5xf32>, tensor<f32>) -> tensor<1x2x6x5xf32>
    %4 = "ai.add"(%3, %mask) : (tensor<1x2x6x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x2x6x5xf32>
    %5 = "ai.softmax"(%4) {axis = 3 : i64} : (tensor<1x2x6x5xf32>) -> tensor<1x2x6x5xf32>
    %6 = "ai.transpose"(%v) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x5x2x8xf32>) -> tensor<1x2x5x8xf32>
    %7 = "ai.matmul"(%5, %6) {acc = f32} : (tensor<1x2x6x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x6x8xf32>
    %8 = "ai.transpose"(%7) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x2x6x8xf32>) -> tensor<1x6x2x8xf32>
    // A softmax that is read elsewhere too stays by itself; a transpose that is read twice goes to both readers.
    // CHECK: "ai.softmax"({{.*}}ai.group = 1 : i64
    // CHECK: "ai.transpose"({{.*}}ai.group = 4 : i64
    // CHECK: "ai.transpose"({{.*}}ai.group = 2 : i64
    // CHECK: "ai.matmul"({{.*}}ai.group = 2 : i64
    // CHECK: "ai.matmul"({{.*}}ai.group = 3 : i64
    // CHECK: "ai.matmul"({{.*}}ai.group = 4 : i64
    %9 = "ai.softmax"(%s) {axis = 1 : i64} : (tensor<6x5xf32>) -> tensor<6x5xf32>
    %10 = "ai.transpose"(%s) {permutation = array<i64: 1, 0>} : (tensor<6x5xf32>) -> tensor<5x6xf32>
    %11 = "ai.matmul"(%9, %10) {acc = f32} : (tensor<6x5xf32>, tensor<5x6xf32>) -> tensor<6x6xf32>
    %12 = "ai.matmul"(%11, %s) {acc = f32} : (tensor<6x6xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
    %13 = "ai.matmul"(%12, %10) {acc = f32} : (tensor<6x5xf32>, tensor<5x6xf32>) -> tensor<6x6xf32>
    return %8, %13, %9 : tensor<1x6x2x8xf32>, tensor<6x6xf32>, tensor<6x5xf32>
  }
}
