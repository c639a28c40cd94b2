// RUN: aiopt -p npu-verify-tiles %s | filecheck %s
// RUN: not aiopt -p 'npu-verify-tiles{machine=%S/Inputs/tiny.toml}' %s 2>&1 | filecheck %s --check-prefix=ARRAY
// RUN: grep -v 'wait"(%%t)' %s | not aiopt -p npu-verify-tiles 2>&1 | filecheck %s --check-prefix=READ
// RUN: sed '/wait"(%%u)/d; s|// WAIT HERE|"npu.wait"(%%u) : (!npu.token) -> ()|' %s | not aiopt -p npu-verify-tiles 2>&1 | filecheck %s --check-prefix=WRITE
// RUN: sed '/wait"(%%u)/d; s|// AND HERE|"npu.wait"(%%u) : (!npu.token) -> ()|; s/"npu.tile_requant"(%%a, %%o) {operandSegmentSizes = array<i32: 1, 0, 0, 1>, scale = 2.*//' %s | not aiopt -p npu-verify-tiles 2>&1 | filecheck %s --check-prefix=DRAM
// RUN: sed 's/wait"(%%u)/wait"(%%t)/' %s | not aiopt -p npu-verify-tiles 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: grep -v 'wait"(%%v)' %s | not aiopt -p npu-verify-tiles 2>&1 | filecheck %s --check-prefix=NEVER
// RUN: sed 's/memref<64x64xi8, #npu.spad>/memref<513x512xi8, #npu.spad>/' %s | not aiopt -p npu-verify-tiles 2>&1 | filecheck %s --check-prefix=CAPACITY
// RUN: sed 's/npu.address = 192/npu.address = 200/' %s | not aiopt -p npu-verify-tiles 2>&1 | filecheck %s --check-prefix=ALIGNED
// RUN: sed 's/npu.address = 192/npu.address = 262144/' %s | not aiopt -p npu-verify-tiles 2>&1 | filecheck %s --check-prefix=END
// RUN: sed 's/npu.address = 192/npu.address = 64/' %s | not aiopt -p npu-verify-tiles 2>&1 | filecheck %s --check-prefix=SHARED
// RUN: sed 's/memref<64x64xi8, #npu.spad>/memref<64x64xi8>/' %s | not aiopt -p npu-verify-tiles 2>&1 | filecheck %s --check-prefix=SPACE
// RUN: sed 's/^  return/  %%z = arith.constant 1 : i32\n  %%zz = arith.addi %%z, %%z : i32\n  return/' %s | not aiopt -p npu-verify-tiles 2>&1 | filecheck %s --check-prefix=OTHER

// CHECK-LABEL: func.func @product
// CHECK: "npu.tile_matmul"
// ARRAY: error: {{.*}}@product: npu.tile_matmul multiplies by 8x8, but the array of machine 'tiny' is 4x4 (at {{.*}})
// READ: error: {{.*}}@product: npu.tile_matmul reads left before the npu.dma_load (at {{.*}}) that writes it is waited for (at {{.*}})
// WRITE: error: {{.*}}@product: npu.tile_requant writes out before the npu.dma_store (at {{.*}}) that reads it is waited for (at {{.*}})
// DRAM: error: {{.*}}@product: npu.dma_store writes target before the npu.dma_store (at {{.*}}) that writes it is waited for (at {{.*}})
// TWICE: error: {{.*}}@product: a transfer is waited for twice (at {{.*}})
// NEVER: error: {{.*}}@product: npu.dma_store is never waited for (at {{.*}})
// CAPACITY: error: {{.*}}@product: it needs 262656 bytes of spad, but machine 'edge16' has 262144
// ALIGNED: error: {{.*}}@product: the memref<8x8xi8, #npu.spad> at spad address 200 must be at a multiple of 64
// END: error: {{.*}}@product: the memref<8x8xi8, #npu.spad> at spad address 262144 needs 262208 bytes of spad, but machine 'edge16' has 262144
// SHARED: error: {{.*}}@product: the memref<8x8xi8, #npu.spad> at spad address {{.*}} shares bytes with the memref<8x8xi8, #npu.spad> at spad address {{.*}}, and both are needed at the same time
// SPACE: error: {{.*}}@product: a buffer must be in #npu.dram, #npu.spad, #npu.acc, but is memref<64x64xi8>
// OTHER: error: {{.*}}@product: arith.addi is no op of the high tier (at {{.*}})
func.func @product(%x: memref<8x8xi8, #npu.dram>, %w: memref<8x8xi8, #npu.dram>, %y: memref<8x8xi8, #npu.dram>) attributes {npu.machine = "edge16", npu.machine_hash = "8823e15c6540ed9e1e4b6eed9c507837550cdb60392da5e6adc642a1a1ccba65", npu.tiles} {
  %l = memref.alloc() {npu.address = 64 : i64} : memref<8x8xi8, #npu.spad>
  %r = memref.alloc() {npu.address = 192 : i64} : memref<8x8xi8, #npu.spad>
  %o = memref.alloc() {npu.address = 128 : i64} : memref<8x8xi8, #npu.spad>
  %a = memref.alloc() {npu.address = 0 : i64} : memref<8x8xi32, #npu.acc>
  %spare = memref.alloc() : memref<64x64xi8, #npu.spad>
  %t = "npu.dma_load"(%x, %l) : (memref<8x8xi8, #npu.dram>, memref<8x8xi8, #npu.spad>) -> !npu.token
  %s = "npu.dma_load"(%w, %r) : (memref<8x8xi8, #npu.dram>, memref<8x8xi8, #npu.spad>) -> !npu.token
  "npu.wait"(%t) : (!npu.token) -> ()
  "npu.wait"(%s) : (!npu.token) -> ()
  "npu.tile_matmul"(%l, %r, %a) : (memref<8x8xi8, #npu.spad>, memref<8x8xi8, #npu.spad>, memref<8x8xi32, #npu.acc>) -> ()
  "npu.tile_requant"(%a, %o) {operandSegmentSizes = array<i32: 1, 0, 0, 1>, scale = 5.0e-01 : f64} : (memref<8x8xi32, #npu.acc>, memref<8x8xi8, #npu.spad>) -> ()
  %u = "npu.dma_store"(%o, %y) : (memref<8x8xi8, #npu.spad>, memref<8x8xi8, #npu.dram>) -> !npu.token
  "npu.wait"(%u) : (!npu.token) -> ()
  "npu.tile_requant"(%a, %o) {operandSegmentSizes = array<i32: 1, 0, 0, 1>, scale = 2.5e-01 : f64} : (memref<8x8xi32, #npu.acc>, memref<8x8xi8, #npu.spad>) -> ()
  // WAIT HERE
  %v = "npu.dma_store"(%o, %y) : (memref<8x8xi8, #npu.spad>, memref<8x8xi8, #npu.dram>) -> !npu.token
  // AND HERE
  "npu.wait"(%v) : (!npu.token) -> ()
  return
}
