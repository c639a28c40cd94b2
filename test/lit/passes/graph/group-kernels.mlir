// RUN: aiopt -p ai-group-kernels %s | filecheck %s
// RUN: aiopt -p 'ai-group-kernels{max-ops=1}' %s | filecheck %s --check-prefix=ALONE
// RUN: not aiopt -p 'ai-group-kernels{max-ops=0}' %s 2>&1 | filecheck %s --check-prefix=ZERO
// RUN: not aiopt -p 'ai-group-kernels{max-ops=many}' %s 2>&1 | filecheck %s --check-prefix=WORD
// ZERO: error: ai-group-kernels: option 'max-ops' must be 1 or more, not 0
// WORD: error: ai-group-kernels: option 'max-ops' takes a whole number, not 'many'

module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main
  func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %q: tensor<8x8xi8>) -> (tensor<8x8xf32>, tensor<64xf32>, tensor<8x8xi8>, tensor<8x8xi8>) {
    %eps = arith.constant dense<1.0> : tensor<f32>
    // A contraction and its epilogue, the diamond of x * sigmoid(x) included.
    // CHECK: "ai.matmul"({{.*}} {acc = f32, ai.group = 0 : i64}
    // CHECK: "ai.sigmoid"({{.*}} {ai.group = 0 : i64}
    // CHECK: "ai.mul"({{.*}} {ai.group = 0 : i64}
    // ALONE: "ai.matmul"({{.*}} {acc = f32, ai.group = 0 : i64}
    // ALONE: "ai.sigmoid"({{.*}} {ai.group = 1 : i64}
    // ALONE: "ai.mul"({{.*}} {ai.group = 2 : i64}
    %0 = "ai.matmul"(%x, %y) {acc = f32} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = "ai.sigmoid"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = "ai.mul"(%0, %1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    // The second matmul starts a kernel of its own.
    // CHECK: "ai.matmul"({{.*}} {acc = f32, ai.group = 1 : i64}
    %3 = "ai.matmul"(%2, %y) {acc = f32} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    // A layer normalisation is one kernel.
    // CHECK: "ai.reduce_mean"({{.*}}ai.group = 2 : i64
    // CHECK: "ai.sub"({{.*}}ai.group = 2 : i64
    // CHECK: "ai.mul"({{.*}}ai.group = 2 : i64
    // CHECK: "ai.reduce_mean"({{.*}}ai.group = 2 : i64
    // CHECK: "ai.add"({{.*}}ai.group = 2 : i64
    // CHECK: "ai.sqrt"({{.*}}ai.group = 2 : i64
    // CHECK: "ai.div"({{.*}}ai.group = 2 : i64
    %4 = "ai.reduce_mean"(%3) {axes = array<i64: 1>, keepdims = true} : (tensor<8x8xf32>) -> tensor<8x1xf32>
    %5 = "ai.sub"(%3, %4) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
    %6 = "ai.mul"(%5, %5) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %7 = "ai.reduce_mean"(%6) {axes = array<i64: 1>, keepdims = true} : (tensor<8x8xf32>) -> tensor<8x1xf32>
    %8 = "ai.add"(%7, %eps) : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
    %9 = "ai.sqrt"(%8) : (tensor<8x1xf32>) -> tensor<8x1xf32>
    %10 = "ai.div"(%5, %9) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
    // Views and constants are in no kernel; what follows a view is in another.
    // CHECK: "ai.reshape"({{.*}}) {shape = array<i64: 64>}
    // CHECK: "ai.exp"({{.*}} {ai.group = 3 : i64}
    %11 = "ai.reshape"(%10) {shape = array<i64: 64>} : (tensor<8x8xf32>) -> tensor<64xf32>
    %12 = "ai.exp"(%11) : (tensor<64xf32>) -> tensor<64xf32>
    // Templates do not quantise: the product keeps its template.
    // CHECK: "ai.matmul"({{.*}} {acc = f32, ai.group = 4 : i64}
    // CHECK: "ai.quantize_linear"({{.*}} {ai.group = 5 : i64}
    %zero = arith.constant dense<3> : tensor<i8>
    %13 = "ai.matmul"(%x, %10) {acc = f32} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %14 = "ai.quantize_linear"(%13, %eps, %zero) : (tensor<8x8xf32>, tensor<f32>, tensor<i8>) -> tensor<8x8xi8>
    // There are none for integers: all that follows is one kernel.
    // CHECK: "ai.matmul_integer"({{.*}} {ai.group = 6 : i64}
    // CHECK: "ai.cast"({{.*}} {ai.group = 6 : i64, to = f32}
    // CHECK: "ai.quantize_linear"({{.*}} {ai.group = 6 : i64}
    %15 = "ai.matmul_integer"(%14, %q, %zero, %zero) : (tensor<8x8xi8>, tensor<8x8xi8>, tensor<i8>, tensor<i8>) -> tensor<8x8xi32>
    %16 = "ai.cast"(%15) {to = f32} : (tensor<8x8xi32>) -> tensor<8x8xf32>
    %17 = "ai.quantize_linear"(%16, %eps, %zero) : (tensor<8x8xf32>, tensor<f32>, tensor<i8>) -> tensor<8x8xi8>
    return %10, %12, %14, %17 : tensor<8x8xf32>, tensor<64xf32>, tensor<8x8xi8>, tensor<8x8xi8>
  }
}
