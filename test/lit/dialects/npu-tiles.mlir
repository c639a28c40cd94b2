// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: aiopt --emit-irdl > %t.irdl && mlir-opt --irdl-file=%t.irdl %s | filecheck %s
// RUN: sed 's/pad = array<i64: 1, 0, 2, 3>/pad = array<i64: 1, 0, 2>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=PAD
// RUN: sed 's/fill = 7 : i64/fill = 256 : i64/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=FILL
// RUN: sed 's/fill = 7/filler = 7/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=NAME
// RUN: sed 's/op = "add"/op = "plus"/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=OP
// RUN: sed 's/op = "copy"/op = "mul"/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=RIGHT
// RUN: sed 's/scale = 5.0e-01 : f64, //' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SCALE
// RUN: sed 's/zero_point = 3 : i64/zero_point = 300 : i64/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=ZERO
// RUN: sed 's/memref<8x12xi32, #npu.acc>/memref<8x12xi32, #npu.spad>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SPACE
// RUN: sed 's/memref<12x12xi8, #npu.spad>/memref<11x12xi8, #npu.spad>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=INNER
// RUN: sed 's/memref<12x12xi8, #npu.spad>/memref<12x12xui8, #npu.spad>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=TYPES
// RUN: sed 's/strided<\[40, 1\]>/strided<[80, 2]>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=ROW
// RUN: sed 's/(%%t) : (!npu.token)/(%%d) : (memref<8x12xi8, #npu.dram>)/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=TOKEN

// CHECK-LABEL: func.func @tiles
// CHECK: %[[T:.*]] = "npu.dma_load"(%{{.*}}, %{{.*}}) {fill = 7 : i64, pad = array<i64: 1, 0, 2, 3>} : (memref<7x7xi8, strided<[40, 1]>, #npu.dram>, memref<8x12xi8, #npu.spad>) -> !npu.token
// CHECK: "npu.wait"(%[[T]]) : (!npu.token) -> ()
// CHECK: "npu.tile_matmul"(%{{.*}}) {accumulate = true} : (memref<8x12xi8, #npu.spad>, memref<12x12xi8, #npu.spad>, memref<8x12xi32, #npu.acc>) -> ()
// CHECK: "npu.tile_requant"
// CHECK: "npu.tile_vec"
// CHECK: "npu.dma_store"(%{{.*}}, %{{.*}}) : (memref<8x12xi8, #npu.spad>, memref<8x12xi8, #npu.dram>) -> !npu.token
// PAD: error: {{.*}}npu.dma_load: pad must be 4 numbers (top, bottom, left, right) around a matrix, but is [1, 0, 2]
// FILL: error: {{.*}}npu.dma_load: fill must be from 0 to 255, but is 256
// NAME: error: {{.*}}npu.dma_load has no attribute 'filler', did you mean 'fill'?
// OP: error: {{.*}}npu.tile_vec: op must be one of copy, add, sub, mul, max, min, but is 'plus'
// RIGHT: error: {{.*}}npu.tile_vec: it takes either the operand 'right' or the attribute 'immediate', and neither for copy
// SCALE: error: {{.*}}npu.tile_requant: it takes either the attribute 'scale' or the operand 'scales'
// ZERO: error: {{.*}}npu.tile_requant: zero_point must be from -128 to 127, but is 300
// SPACE: error: {{.*}}npu.tile_matmul: operand 'acc' must be a memref of i32 or f32 in #npu.acc, but is memref<8x12xi32, #npu.spad>
// INNER: error: {{.*}}npu.tile_matmul: left has 12 columns, right 11 rows
// TYPES: error: {{.*}}npu.tile_matmul: it multiplies i8 or ui8 with i8, or f32 with f32, not i8 with ui8
// ROW: error: {{.*}}npu.dma_load: the elements of a row of source must be next to each other, not 2 apart
// TOKEN: error: {{.*}}expected base type 'npu.token' but got 'builtin.memref'
func.func @tiles(%s: memref<7x7xi8, strided<[40, 1]>, #npu.dram>, %d: memref<8x12xi8, #npu.dram>) {
  %l = memref.alloc() : memref<8x12xi8, #npu.spad>
  %r = memref.alloc() : memref<12x12xi8, #npu.spad>
  %a = memref.alloc() : memref<8x12xi32, #npu.acc>
  %b = memref.alloc() : memref<12xi32, #npu.spad>
  %t = "npu.dma_load"(%s, %l) {fill = 7 : i64, pad = array<i64: 1, 0, 2, 3>} : (memref<7x7xi8, strided<[40, 1]>, #npu.dram>, memref<8x12xi8, #npu.spad>) -> !npu.token
  "npu.wait"(%t) : (!npu.token) -> ()
  "npu.tile_matmul"(%l, %r, %a) {accumulate = true} : (memref<8x12xi8, #npu.spad>, memref<12x12xi8, #npu.spad>, memref<8x12xi32, #npu.acc>) -> ()
  "npu.tile_requant"(%a, %b, %l) {operandSegmentSizes = array<i32: 1, 1, 0, 1>, scale = 5.0e-01 : f64, zero_point = 3 : i64} : (memref<8x12xi32, #npu.acc>, memref<12xi32, #npu.spad>, memref<8x12xi8, #npu.spad>) -> ()
  "npu.tile_vec"(%a, %b, %a) {op = "add", operandSegmentSizes = array<i32: 1, 1, 1>} : (memref<8x12xi32, #npu.acc>, memref<12xi32, #npu.spad>, memref<8x12xi32, #npu.acc>) -> ()
  "npu.tile_vec"(%a, %a) {op = "copy", operandSegmentSizes = array<i32: 1, 0, 1>} : (memref<8x12xi32, #npu.acc>, memref<8x12xi32, #npu.acc>) -> ()
  %u = "npu.dma_store"(%l, %d) : (memref<8x12xi8, #npu.spad>, memref<8x12xi8, #npu.dram>) -> !npu.token
  "npu.wait"(%u) : (!npu.token) -> ()
  return
}
