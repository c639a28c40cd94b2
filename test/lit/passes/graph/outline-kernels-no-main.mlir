// RUN: not aiopt -p ai-outline-kernels %s 2>&1 | filecheck %s
// CHECK: error: ai-outline-kernels needs a function @main

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
