// RUN: aiopt -p npu-assign-semaphores %s | filecheck %s
// RUN: aiopt -p 'npu-assign-semaphores,npu-verify-programs' %s -o %t.mlir
// RUN: aiopt-npu run %t.mlir | filecheck %s --check-prefix=RUNS
// RUN: sed 's/npu.dram_bytes = 128 : i64, //' %s | not aiopt -p npu-assign-semaphores 2>&1 | filecheck %s --check-prefix=DRAM
// RUN: sed 's/memref.alloc() {npu.address = 64 : i64}/memref.alloc()/' %s | not aiopt -p npu-assign-semaphores 2>&1 | filecheck %s --check-prefix=ADDRESS

// Two turns of one buffer. What is waited for is what the other queue must be done with: the first store waits for the
// first load, the second load for that store (the credit), the second store for that load. The last wait orders nothing.
// CHECK-LABEL: func.func @turns() attributes
// CHECK-SAME: npu.inputs = [{address = 0 : i64, name = "arg0", type = tensor<4x8xi8>}]
// CHECK-SAME: npu.outputs = [{address = 64 : i64, name = "y", type = tensor<4x8xi8>}]
// CHECK-NEXT: "npu.sem_init"() {signaller = "load", waiter = "store"} : () -> ()
// CHECK-NEXT: "npu.sem_init"() {semaphore = 1 : i64, signaller = "store", waiter = "load"} : () -> ()
// CHECK-NEXT: "npu.dma_ld"() {dram_stride = 8 : i64, row_bytes = 8 : i64, rows = 2 : i64, signals = array<i64: 0, 1>, spad = 64 : i64, spad_stride = 8 : i64} : () -> ()
// CHECK-NEXT: "npu.dma_st"() {dram = 80 : i64, dram_stride = 8 : i64, row_bytes = 8 : i64, rows = 2 : i64, signals = array<i64: 1, 1>, spad = 64 : i64, spad_stride = 8 : i64, waits = array<i64: 0, 1>} : () -> ()
// CHECK-NEXT: "npu.dma_ld"() {dram = 16 : i64, dram_stride = 8 : i64, row_bytes = 8 : i64, rows = 2 : i64, signals = array<i64: 0, 1>, spad = 64 : i64, spad_stride = 8 : i64, waits = array<i64: 1, 1>} : () -> ()
// CHECK-NEXT: "npu.dma_st"() {dram = 64 : i64, dram_stride = 8 : i64, row_bytes = 8 : i64, rows = 2 : i64, spad = 64 : i64, spad_stride = 8 : i64, waits = array<i64: 0, 1>} : () -> ()
// CHECK-NEXT: "npu.halt"() : () -> ()
// RUNS: output y: 4x8 int8, min
// DRAM: error: {{.*}}@turns has no attribute npu.dram_bytes: npu-allocate comes first
// ADDRESS: error: {{.*}}@turns: a buffer in spad has no npu.address: npu-allocate comes first
func.func @turns(%x: memref<4x8xi8, #npu.dram> {npu.address = 0 : i64}, %y: memref<4x8xi8, #npu.dram> {ai.name = "y", ai.output, npu.address = 64 : i64}) attributes {npu.dram_bytes = 128 : i64, npu.machine = "edge16", npu.machine_hash = "8823e15c6540ed9e1e4b6eed9c507837550cdb60392da5e6adc642a1a1ccba65", npu.tiles} {
  %a = memref.alloc() {npu.address = 64 : i64} : memref<2x8xi8, #npu.spad>
  %x0 = memref.subview %x[0, 0] [2, 8] [1, 1] : memref<4x8xi8, #npu.dram> to memref<2x8xi8, strided<[8, 1]>, #npu.dram>
  %x1 = memref.subview %x[2, 0] [2, 8] [1, 1] : memref<4x8xi8, #npu.dram> to memref<2x8xi8, strided<[8, 1], offset: 16>, #npu.dram>
  %y0 = memref.subview %y[0, 0] [2, 8] [1, 1] : memref<4x8xi8, #npu.dram> to memref<2x8xi8, strided<[8, 1]>, #npu.dram>
  %y1 = memref.subview %y[2, 0] [2, 8] [1, 1] : memref<4x8xi8, #npu.dram> to memref<2x8xi8, strided<[8, 1], offset: 16>, #npu.dram>
  %t0 = "npu.dma_load"(%x0, %a) : (memref<2x8xi8, strided<[8, 1]>, #npu.dram>, memref<2x8xi8, #npu.spad>) -> !npu.token
  "npu.wait"(%t0) : (!npu.token) -> ()
  %t1 = "npu.dma_store"(%a, %y1) : (memref<2x8xi8, #npu.spad>, memref<2x8xi8, strided<[8, 1], offset: 16>, #npu.dram>) -> !npu.token
  "npu.wait"(%t1) : (!npu.token) -> ()
  %t2 = "npu.dma_load"(%x1, %a) : (memref<2x8xi8, strided<[8, 1], offset: 16>, #npu.dram>, memref<2x8xi8, #npu.spad>) -> !npu.token
  "npu.wait"(%t2) : (!npu.token) -> ()
  %t3 = "npu.dma_store"(%a, %y0) : (memref<2x8xi8, #npu.spad>, memref<2x8xi8, strided<[8, 1]>, #npu.dram>) -> !npu.token
  "npu.wait"(%t3) : (!npu.token) -> ()
  return
}
