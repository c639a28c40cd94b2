// RUN: aiopt -p convert-ai-to-linalg %s | filecheck %s
// RUN: sed 's/group = 1/group = 3/' %s > %t.mlir
// RUN: not aiopt -p convert-ai-to-linalg %t.mlir 2>&1 | filecheck %s --check-prefix=GROUP

// The input spread by its strides, the kernel turned, and a convolution of stride 1.
// CHECK-LABEL: func.func private @conv_transpose(
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 1, 1] [1, 4, 3, 5] [1, 1, 2, 2] : tensor<1x4x3x5xf32> into tensor<1x4x7x11xf32>
// CHECK: arith.subi
// CHECK: tensor.extract
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]

// GROUP: error: {{.*}}ai.conv_transpose

func.func private @conv_transpose(%x: tensor<1x4x3x5xf32>, %w: tensor<4x3x2x2xf32>) -> tensor<1x3x6x10xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.conv_transpose"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, output_pads = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x3x5xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x6x10xf32>
  return %0 : tensor<1x3x6x10xf32>
}
