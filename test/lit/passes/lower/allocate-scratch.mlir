// RUN: aiopt -p ai-allocate-scratch %s | filecheck %s
// RUN: aiopt -p 'ai-allocate-scratch{stack-bytes=0}' %s | filecheck %s --check-prefix=SHARED
// RUN: not aiopt -p 'ai-allocate-scratch{stack=0}' %s 2>&1 | filecheck %s --check-prefix=OPTION

// Small buffers live on the stack.
// CHECK-LABEL: func.func @main(
// CHECK: call @kernel(%{{.*}}, %{{.*}}) {ai.nodes = ["A"]}
// CHECK-LABEL: func.func private @kernel(
// CHECK-SAME: ai.scratch = 0 : i64
// CHECK-NOT: memref.alloc(
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<16xf32>
// CHECK: linalg.copy {{.*}}ins(%{{.*}} : memref<16xf32>) outs(%{{.*}} : memref<16xf32>)
// CHECK: scf.forall
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<4xf32>

// What does not fit on the stack is an argument, which @main allocates at the call; inside a parallel loop it is a part
// of one buffer for each iteration, 64 bytes apart.
// SHARED-LABEL: func.func @main(
// SHARED: %[[T:.*]] = memref.alloc() : memref<16xf32>
// SHARED: %[[P:.*]] = memref.alloc() : memref<256xi8>
// SHARED: call @kernel(%{{.*}}, %{{.*}}, %[[T]], %[[P]]) {ai.nodes = ["A"]}
// SHARED-LABEL: func.func private @kernel(
// SHARED-SAME: ai.scratch = 2 : i64
// SHARED-NOT: memref.alloca
// SHARED: memref.view %{{.*}}[%{{.*}}][] : memref<256xi8> to memref<4xf32>

// OPTION: error: ai-allocate-scratch has no option 'stack' (it has: stack-bytes)

module attributes {ai.level = "tensor"} {
  func.func @main(%x: memref<16xf32> {ai.name = "x"}, %y: memref<16xf32> {ai.name = "y", ai.output}) {
    call @kernel(%x, %y) {ai.nodes = ["A"]} : (memref<16xf32>, memref<16xf32>) -> ()
    return
  }
  func.func private @kernel(%x: memref<16xf32>, %y: memref<16xf32>) attributes {ai.kernel, ai.ops = []} {
    %t = memref.alloc() : memref<16xf32>
    memref.copy %x, %t : memref<16xf32> to memref<16xf32>
    scf.forall (%i) = (0) to (16) step (4) {
      %p = memref.alloc() : memref<4xf32>
      %s = memref.subview %t[%i] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: ?>>
      %d = memref.subview %y[%i] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: ?>>
      memref.copy %s, %p : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32>
      memref.copy %p, %d : memref<4xf32> to memref<4xf32, strided<[1], offset: ?>>
    }
    return
  }
}
