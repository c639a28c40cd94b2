// RUN: aiopt -p 'cpu-emit-info{features=avx2,fma}' %s | filecheck %s
// RUN: not aiopt -p 'cpu-emit-info{cpu=znver4}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: cpu-emit-info has no option 'cpu' (it has: features)

module attributes {ai.level = "cpu", ai.net = "tiny", ai.arena_bytes = 640 : i64, ai.weights_bytes = 128 : i64} {
  func.func @main(%x: memref<2x3xf32> {ai.name = "x"}, %m: memref<i8> {ai.name = "mask", ai.element = "i1"},
                  %y: memref<5xi64> {ai.name = "\C3\A4", ai.output},
                  %weights: memref<128xi8>, %arena: memref<640xi8>) {
    call @one(%x) : (memref<2x3xf32>) -> ()
    call @two(%x) : (memref<2x3xf32>) -> ()
    call @one(%x) : (memref<2x3xf32>) -> ()
    return
  }
  func.func private @one(%x: memref<2x3xf32>) {
    return
  }
  func.func private @two(%x: memref<2x3xf32>) {
    return
  }
}
// CHECK: llvm.mlir.global internal constant @aiopt_tiny_inputs_name_0("x\00")
// CHECK: @aiopt_tiny_inputs_shape_0(dense<[2, 3]> : tensor<2xi64>)
// A scalar has rank 0: its shape is not read, but C has no empty arrays.
// CHECK: @aiopt_tiny_inputs_shape_1(dense<0> : tensor<1xi64>)
// CHECK: llvm.mlir.global internal constant @aiopt_tiny_inputs() {{.*}} !llvm.array<2 x struct<(ptr, ptr, i32, i32)>>
// The element type in memory is i8, to the outside it is bool (0).
// CHECK: llvm.insertvalue {{.*}}[1, 2]
// CHECK-NEXT: llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT: llvm.insertvalue {{.*}}[1, 3]
// CHECK: @aiopt_tiny_outputs_name_0("\C3\A4\00")
// CHECK: llvm.mlir.constant(4 : i32) : i32
// CHECK-NEXT: llvm.insertvalue {{.*}}[0, 3]
// CHECK: @aiopt_tiny_features("avx2,fma\00")
// The kernel of each launch: three launches of two kernels.
// CHECK: @aiopt_tiny_launches_0("one\00")
// CHECK: @aiopt_tiny_launches_1("two\00")
// CHECK: @aiopt_tiny_launches() {{.*}} !llvm.array<3 x ptr>
// CHECK: llvm.mlir.addressof @aiopt_tiny_launches_0
// CHECK: llvm.mlir.addressof @aiopt_tiny_launches_1
// CHECK: llvm.mlir.addressof @aiopt_tiny_launches_0
// CHECK: llvm.mlir.global external constant @aiopt_tiny_info()
// CHECK: llvm.mlir.constant(3 : i32) : i32
// CHECK: llvm.mlir.constant(640 : i64) : i64
// CHECK: llvm.mlir.constant(128 : i64) : i64
