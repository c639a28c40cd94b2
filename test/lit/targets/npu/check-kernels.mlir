// RUN: aiopt -p 'npu-check-kernels{machine=edge16}' %s | filecheck %s
// RUN: not aiopt -p 'npu-check-kernels{machine=edge16 otherwise=}' %s 2>&1 | filecheck %s --check-prefix=NOWHERE
// RUN: not aiopt -p 'npu-check-kernels{machine=edge16 otherwise=npu}' %s 2>&1 | filecheck %s --check-prefix=SELF
// RUN: not aiopt -p 'npu-check-kernels' %s 2>&1 | filecheck %s --check-prefix=NEEDS
// RUN: not aiopt -p 'npu-check-kernels{machine=edge17}' %s 2>&1 | filecheck %s --check-prefix=MACHINE
// NOWHERE: error: {{.*}}relu{{.*}} does not run on an NPU
// SELF: error: npu-check-kernels: option 'otherwise' must name another target than npu
// NEEDS: error: npu-check-kernels needs the option 'machine'
// MACHINE: error: there is no machine 'edge17', did you mean 'edge16'?

// A relu runs only behind a product: alone it goes to the other target, with the reason on its call. Weights may come
// through views.
// CHECK: call @matmul_0({{.*}}) : (
// CHECK: call @relu_1_cpu({{.*}}) {ai.why = "npu: {{.*}}relu{{.*}}does not run on an NPU{{.*}}"}
// CHECK: func.func private @matmul_0{{.*}}ai.target = "npu"
// CHECK-NOT: @relu_1(
// CHECK: func.func private @relu_1_cpu{{.*}}ai.target = "cpu"
// CHECK-NOT: @relu_1(
module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
    %v = arith.constant dense<0.5> : tensor<16xf32>
    %w = "ai.reshape"(%v) {shape = array<i64: 8, 2>} : (tensor<16xf32>) -> tensor<8x2xf32>
    %0 = call @matmul_0(%x, %w) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %1 = call @relu_1(%0) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    return %1 : tensor<4x2xf32>
  }
  func.func private @matmul_0(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> attributes {ai.kernel, ai.ops = ["ai.matmul"], ai.target = "npu"} {
    %0 = "ai.matmul"(%a, %b) {acc = f32} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
  func.func private @relu_1(%a: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {ai.kernel, ai.ops = ["ai.relu"], ai.target = "npu"} {
    %0 = "ai.relu"(%a) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
}
