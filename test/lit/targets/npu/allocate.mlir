// RUN: aiopt -p npu-allocate %s | filecheck %s
// RUN: aiopt -p 'npu-allocate,npu-verify-tiles' %s | filecheck %s
// RUN: aiopt -p 'npu-allocate{machine=%S/Inputs/tiny.toml}' %s | filecheck %s --check-prefix=TINY
// RUN: sed 's/16x16xf32/16x17xf32/g' %s | not aiopt -p 'npu-allocate{machine=%S/Inputs/tiny.toml}' 2>&1 | filecheck %s --check-prefix=FULL
// RUN: sed 's/npu.machine = "edge16", //' %s | not aiopt -p npu-allocate 2>&1 | filecheck %s --check-prefix=MACHINE
// RUN: sed 's/8823e15c/00000000/' %s | not aiopt -p npu-allocate 2>&1 | filecheck %s --check-prefix=PRESET

// Each in its memory, and each for itself where there is room; x and y would share no bytes in any case.
// CHECK-LABEL: func.func @copy(
// CHECK-SAME: memref<16x16xf32, #npu.dram> {ai.name = "x", npu.address = 0 : i64}
// CHECK-SAME: memref<16x16xf32, #npu.dram> {ai.name = "y", ai.output, npu.address = 1024 : i64}
// CHECK-SAME: npu.dram_bytes = 2048 : i64
// CHECK: memref.alloc() {npu.address = 0 : i64} : memref<16x16xf32, #npu.spad>
// CHECK: memref.alloc() {npu.address = 1024 : i64} : memref<16x16xf32, #npu.spad>
// CHECK: memref.alloc() {npu.address = 0 : i64} : memref<16x16xf32, #npu.acc>
// Where there is none, the second one takes the place of the first one, which is done with.
// TINY: memref.alloc() {npu.address = 0 : i64} : memref<16x16xf32, #npu.spad>
// TINY: memref.alloc() {npu.address = 0 : i64} : memref<16x16xf32, #npu.spad>
// FULL: error: {{.*}}@copy needs 1088 bytes of spad, but machine 'tiny' has 1024
// MACHINE: error: {{.*}}function 'copy' has no attributes npu.machine and npu.machine_hash: npu-allocate{machine=NAME}
// PRESET: error: {{.*}}function 'copy' is for machine 'edge16', which is no preset: npu-allocate{machine=FILE}
func.func @copy(%x: memref<16x16xf32, #npu.dram> {ai.name = "x"}, %y: memref<16x16xf32, #npu.dram> {ai.name = "y", ai.output}) attributes {npu.machine = "edge16", npu.machine_hash = "8823e15c6540ed9e1e4b6eed9c507837550cdb60392da5e6adc642a1a1ccba65", npu.tiles} {
  %a = memref.alloc() : memref<16x16xf32, #npu.spad>
  %b = memref.alloc() : memref<16x16xf32, #npu.spad>
  %s = memref.alloc() : memref<16x16xf32, #npu.acc>
  %t = "npu.dma_load"(%x, %a) : (memref<16x16xf32, #npu.dram>, memref<16x16xf32, #npu.spad>) -> !npu.token
  "npu.wait"(%t) : (!npu.token) -> ()
  "npu.tile_vec"(%a, %s) {op = "copy", operandSegmentSizes = array<i32: 1, 0, 1>} : (memref<16x16xf32, #npu.spad>, memref<16x16xf32, #npu.acc>) -> ()
  "npu.tile_vec"(%s, %b) {op = "copy", operandSegmentSizes = array<i32: 1, 0, 1>} : (memref<16x16xf32, #npu.acc>, memref<16x16xf32, #npu.spad>) -> ()
  %u = "npu.dma_store"(%b, %y) : (memref<16x16xf32, #npu.spad>, memref<16x16xf32, #npu.dram>) -> !npu.token
  "npu.wait"(%u) : (!npu.token) -> ()
  return
}
