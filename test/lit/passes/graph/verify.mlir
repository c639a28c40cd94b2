// RUN: aiopt -p ai-verify %s | filecheck %s
// RUN: sed 's/2x3xf32> loc/3x2xf32> loc/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: not aiopt -p 'ai-verify{strict=1}' %s 2>&1 | filecheck %s --check-prefix=OPTION

// CHECK: "ai.relu"(%{{.*}}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// SHAPE: error: {{.*}}ai.relu: result 'out' has type tensor<3x2xf32>, but must have tensor<2x3xf32> (at 'Relu_1')
// OPTION: error: ai-verify has no option 'strict' (it has none)
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "ai.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("Relu_1")
  return
}
