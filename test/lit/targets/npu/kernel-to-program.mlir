// A kernel of level kernels to a binary that runs.
// RUN: aiopt -p 'npu-lower-kernels,npu-allocate,npu-verify-tiles,npu-assign-semaphores,npu-verify-programs' %s -o %t.mlir
// RUN: aiopt-npu asm %t.mlir -o %t.npub
// RUN: aiopt-npu disasm %t.npub | filecheck %s
// RUN: %python -c "import numpy as np; np.save('%t.x.npy', np.full((20, 30), 2, np.int8))"

// (2 - 1) * 3 * 30 = 90, times 0.5, and 7.
// RUN: aiopt-npu run %t.npub --input x=%t.x.npy | filecheck %s --check-prefix=RESULT
// CHECK: .output result0 {{0x[0-9a-f]+}} 20x10xi8
// CHECK: sem_init
// CHECK: dma_ld
// CHECK: loadw
// CHECK: matmul
// CHECK: requant {{.*}}scale=0.5 zero_point=7
// CHECK: dma_st
// CHECK-NEXT: halt
// RESULT: output result0: 20x10 int8, min 52, max 52
func.func private @qlinear_matmul_0(%x: tensor<20x30xi8> {ai.name = "x"}) -> tensor<20x10xi8> attributes {ai.kernel, ai.ops = ["ai.qlinear_matmul"], ai.target = "npu"} {
  %half = arith.constant dense<5.0e-01> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %xz = arith.constant dense<1> : tensor<i8>
  %w = arith.constant dense<3> : tensor<30x10xi8>
  %wz = arith.constant dense<0> : tensor<i8>
  %yz = arith.constant dense<7> : tensor<i8>
  %0 = "ai.qlinear_matmul"(%x, %half, %xz, %w, %one, %wz, %one, %yz) : (tensor<20x30xi8>, tensor<f32>, tensor<i8>, tensor<30x10xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<20x10xi8>
  return %0 : tensor<20x10xi8>
}
