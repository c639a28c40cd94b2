// RUN: aiopt -p cpu-name-symbols %s | filecheck %s
// RUN: aiopt -p cpu-name-symbols,cpu-name-symbols %s | filecheck %s
// RUN: not aiopt -p 'cpu-name-symbols{prefix=k}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: cpu-name-symbols has no option 'prefix' (it has none)

// A kernel called as a function of libm is not what math.exp calls then, nor one called as an intrinsic what LLVM does.
// CHECK-LABEL: func.func @main(
// CHECK: call @kernel.exp(
// CHECK: call @kernel.llvm_foo(
// CHECK: call @kernel.llvm_foo_1(
// CHECK: call @kernel.aiopt_net_run(
// CHECK: memref.global "private" constant @kernel.memcpy
// CHECK: func.func private @kernel.exp(
// CHECK: memref.get_global @kernel.memcpy
// CHECK: func.func private @kernel.llvm_foo(
// CHECK: func.func private @kernel.llvm_foo_1(
// CHECK: func.func private @kernel.aiopt_net_run(
// CHECK: call @cbrtf(
// What has no body is of others.
// CHECK: func.func private @cbrtf(f32) -> f32
module attributes {ai.level = "cpu", ai.net = "net"} {
  func.func @main(%x: memref<4xf32>) {
    call @exp(%x) : (memref<4xf32>) -> ()
    call @llvm.foo(%x) : (memref<4xf32>) -> ()
    call @"llvm foo"(%x) : (memref<4xf32>) -> ()
    call @aiopt_net_run(%x) : (memref<4xf32>) -> ()
    return
  }
  memref.global "private" constant @memcpy : memref<4xf32> = dense<[0.0, 1.0, 2.0, 3.0]>
  func.func private @exp(%x: memref<4xf32>) {
    %table = memref.get_global @memcpy : memref<4xf32>
    return
  }
  func.func private @llvm.foo(%x: memref<4xf32>) {
    return
  }
  func.func private @"llvm foo"(%x: memref<4xf32>) {
    return
  }
  func.func private @aiopt_net_run(%x: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<4xf32>
    %r = call @cbrtf(%v) : (f32) -> f32
    return
  }
  func.func private @cbrtf(f32) -> f32
}
