// Arguments and views without elements get a type that can be a bare pointer; all else stays.
// RUN: aiopt -p cpu-retype-empty-buffers %s | filecheck %s
// RUN: aiopt -p 'cpu-retype-empty-buffers,finalize-memref-to-llvm,convert-func-to-llvm{use-bare-ptr-memref-call-conv=1},convert-arith-to-llvm,reconcile-unrealized-casts' %s | filecheck %s --check-prefix=LLVM
// RUN: echo 'module attributes {ai.level = "graph"} {func.func @main() {return}}' | not aiopt -p cpu-retype-empty-buffers 2>&1 | filecheck %s --check-prefix=LEVEL

// CHECK-LABEL: func.func private @kernel
// CHECK-SAME: (%{{.*}}: memref<0x1xf32>, %{{.*}}: memref<0x3xf32>, %{{.*}}: memref<2x3xf32>)
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%{{.*}}: memref<0x1x4xf32> {ai.name = "x"}, %{{.*}}: memref<2x3xf32>, %{{.*}}: memref<64xi8>)
// CHECK: memref.view {{.*}} : memref<64xi8> to memref<0x1xf32>
// CHECK: memref.view {{.*}} : memref<64xi8> to memref<0x3xf32>
// CHECK: call @kernel({{.*}}) : (memref<0x1xf32>, memref<0x3xf32>, memref<2x3xf32>) -> ()

// LLVM: llvm.func @kernel(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// LLVM: llvm.func @main
// LLVM: llvm.call @kernel

// LEVEL: error: cpu-retype-empty-buffers takes IR of level cpu, but this is graph
module attributes {ai.level = "cpu"} {
  func.func private @kernel(%x: memref<2x0xf32>, %y: memref<0x3xf32>, %z: memref<2x3xf32>) {
    return
  }
  func.func @main(%x: memref<2x0x4xf32> {ai.name = "x"}, %z: memref<2x3xf32>, %arena: memref<64xi8>) {
    %c0 = arith.constant 0 : index
    %a = memref.view %arena[%c0][] : memref<64xi8> to memref<2x0xf32>
    %b = memref.view %arena[%c0][] : memref<64xi8> to memref<0x3xf32>
    call @kernel(%a, %b, %z) : (memref<2x0xf32>, memref<0x3xf32>, memref<2x3xf32>) -> ()
    return
  }
}
