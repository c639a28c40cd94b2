// RUN: aiopt -p ai-group-kernels %s | filecheck %s
// RUN: aiopt -p 'ai-group-kernels{max-ops=1}' %s | filecheck %s --check-prefix=ALONE
// RUN: not aiopt -p 'ai-group-kernels{max-ops=0}' %s 2>&1 | filecheck %s --check-prefix=ZERO
// RUN: not aiopt -p 'ai-group-kernels{max-ops=many}' %s 2>&1 | filecheck %s --check-prefix=WORD
// ZERO: error: ai-group-kernels: option 'max-ops' must be 1 or more, not 0
// WORD: error: ai-group-kernels: option 'max-ops' takes a whole number, not 'many'

module attributes {ai.level = "graph"} {
  // CHECK-LABEL: func.func @main
  func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<64xf32>) {
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
    return %10, %12 : tensor<8x8xf32>, tensor<64xf32>
  }
}
