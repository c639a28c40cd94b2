// RUN: aiopt -p 'npu-lower-kernels{machine=%S/Inputs/tiny.toml}' %s -o %t.mlir && filecheck %s < %t.mlir
// RUN: aiopt -p 'npu-verify-tiles{machine=%S/Inputs/tiny.toml}' %t.mlir | filecheck %s
// RUN: aiopt -p 'npu-lower-kernels{machine=%S/Inputs/tiny.toml depth=1}' %s | filecheck %s --check-prefix=SINGLE
// RUN: aiopt -p npu-lower-kernels %s | filecheck %s --check-prefix=EDGE
// RUN: not aiopt -p 'npu-lower-kernels{machine=edge17}' %s 2>&1 | filecheck %s --check-prefix=MACHINE
// RUN: not aiopt -p 'npu-lower-kernels{depth=0}' %s 2>&1 | filecheck %s --check-prefix=DEPTH
// RUN: sed 's/"ai.relu"/"ai.exp"/' %s | not aiopt -p npu-lower-kernels 2>&1 | filecheck %s --check-prefix=OP
// RUN: sed 's/dense<3>/dense<-128>/' %s | not aiopt -p npu-lower-kernels 2>&1 | filecheck %s --check-prefix=WEIGHTS
// RUN: sed 's/@caller/@other/; s/call @elsewhere/call @dense/' %s | not aiopt -p npu-lower-kernels 2>&1 | filecheck %s --check-prefix=CALLED
// RUN: sed 's/tensor<12x8xf32>/tensor<12x4000xf32>/g; s/tensor<8x/tensor<4000x/g; s/x8xf32/x4000xf32/g; s/tensor<8xf32>/tensor<4000xf32>/g' %s | not aiopt -p 'npu-lower-kernels{machine=%S/Inputs/tiny.toml}' 2>&1 | filecheck %s --check-prefix=FIT

// Tiles of 12 x 4 from chunks of 4 of k. Two pairs of operands take turns: both are loaded before the first product.
// CHECK-LABEL: func.func @dense(
// CHECK-SAME: %[[X:.*]]: memref<2x6x12xf32, #npu.dram> {ai.name = "x"}, %[[W:.*]]: memref<12x8xf32, #npu.dram>,
// CHECK-SAME: %[[B:.*]]: memref<8xf32, #npu.dram>, %[[Y:.*]]: memref<2x6x8xf32, #npu.dram> {ai.name = "result0", ai.output}) attributes {npu.machine = "tiny", {{.*}}, npu.tiles}
// CHECK: memref.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : memref<2x6x12xf32, #npu.dram> into memref<12x12xf32, #npu.dram>
// CHECK: "npu.dma_load"(%[[B]], %[[BIAS:.*]]) : (memref<8xf32, #npu.dram>, memref<8xf32, #npu.spad>) -> !npu.token
// CHECK: "npu.dma_load"
// CHECK: %[[T2:.*]] = "npu.dma_load"
// CHECK: "npu.dma_load"
// CHECK: %[[T4:.*]] = "npu.dma_load"
// CHECK: "npu.wait"(%[[T2]])
// CHECK: "npu.tile_matmul"(%[[LEFT:.*]], %[[RIGHT:.*]], %[[SUMS:.*]]) : (memref<12x4xf32, #npu.spad>, memref<4x4xf32, #npu.spad>, memref<12x4xf32, #npu.acc>) -> ()
// CHECK: "npu.dma_load"(%{{.*}}, %[[LEFT]])
// CHECK: "npu.dma_load"(%{{.*}}, %[[RIGHT]])
// CHECK: "npu.wait"(%[[T4]])
// CHECK: "npu.tile_matmul"({{.*}}, %[[SUMS]]) {accumulate = true}
// CHECK: "npu.tile_matmul"(%[[LEFT]], %[[RIGHT]], %[[SUMS]]) {accumulate = true}
// CHECK: "npu.tile_vec"(%[[SUMS]], %{{.*}}, %[[OUT:.*]]) {op = "add", operandSegmentSizes = array<i32: 1, 1, 1>}
// CHECK: "npu.tile_vec"(%[[OUT]], %[[OUT]]) {immediate = 0.000000e+00 : f64, op = "max", operandSegmentSizes = array<i32: 1, 0, 1>}
// CHECK: %[[T5:.*]] = "npu.dma_store"(%[[OUT]], %{{.*}})
// CHECK: "npu.dma_store"
// CHECK-NEXT: "npu.wait"(%[[T5]])
// CHECK-NEXT: "npu.wait"
// CHECK: return

// SINGLE-LABEL: func.func @dense(
// SINGLE: "npu.dma_load"
// SINGLE: "npu.dma_load"
// SINGLE: "npu.dma_load"
// SINGLE-NOT: "npu.dma_load"
// SINGLE: "npu.tile_matmul"

// The weights less their zero point, 3 - 1, and what the zero point of the input adds to the sums: -(5 * 12 * 2).
// EDGE-LABEL: func.func @quantized(
// EDGE: %[[SUMS:.*]] = memref.alloc() : memref<6x8xi32, #npu.acc>
// EDGE: "npu.tile_matmul"(%{{.*}}, %{{.*}}, %[[SUMS]]) : (memref<6x12xui8, #npu.spad>, memref<12x8xi8, #npu.spad>, memref<6x8xi32, #npu.acc>) -> ()
// EDGE: "npu.tile_requant"(%[[SUMS]], %{{.*}}, %{{.*}}) {operandSegmentSizes = array<i32: 1, 1, 0, 1>, relu = true, scale = 2.500000e-01 : f64, zero_point = 7 : i64}
// EDGE-LABEL: func.func @sums(
// EDGE: "npu.tile_vec"(%{{.*}}) {op = "copy", operandSegmentSizes = array<i32: 1, 0, 1>} : (memref<6x8xi32, #npu.acc>, memref<6x8xi32, #npu.spad>) -> ()
// EDGE: func.func @elsewhere
// EDGE: "ai.exp"
// MACHINE: error: {{.*}}there is no machine 'edge17', did you mean 'edge16'?
// DEPTH: error: {{.*}}depth must be 1 or more, but is 0
// OP: error: {{.*}}kernel @dense: ai.exp (at {{.*}}) does not run on an NPU: the NPU has no instruction for it
// WEIGHTS: error: {{.*}}kernel @quantized: ai.qlinear_matmul (at {{.*}}) does not run on an NPU: its weights less their zero point do not fit int8
// CALLED: error: {{.*}}npu-lower-kernels: @dense is called; programs are made from kernels in a module of their own
// FIT: error: {{.*}}does not fit machine 'tiny': the smallest tiles need {{[0-9]+}} bytes of scratchpad and 128 of accumulators, but there are 1024 and 1024
func.func @dense(%x: tensor<2x6x12xf32> {ai.name = "x"}, %w: tensor<12x8xf32>, %b: tensor<8xf32>) -> tensor<2x6x8xf32> attributes {ai.target = "npu"} {
  %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<2x6x12xf32>, tensor<12x8xf32>) -> tensor<2x6x8xf32>
  %1 = "ai.add"(%0, %b) : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  %2 = "ai.relu"(%1) : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  return %2 : tensor<2x6x8xf32>
}
func.func @quantized(%x: tensor<6x12xui8>) -> tensor<6x8xui8> attributes {ai.target = "npu"} {
  %s = arith.constant dense<5.0e-01> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %xz = arith.constant dense<5> : tensor<ui8>
  %w = arith.constant dense<3> : tensor<12x8xi8>
  %wz = arith.constant dense<1> : tensor<i8>
  %yz = arith.constant dense<7> : tensor<ui8>
  %0 = "ai.qlinear_matmul"(%x, %s, %xz, %w, %s, %wz, %one, %yz) : (tensor<6x12xui8>, tensor<f32>, tensor<ui8>, tensor<12x8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<6x8xui8>
  %1 = "ai.maximum"(%0, %yz) : (tensor<6x8xui8>, tensor<ui8>) -> tensor<6x8xui8>
  return %1 : tensor<6x8xui8>
}
func.func @sums(%x: tensor<6x12xi8>) -> tensor<6x8xi32> attributes {ai.target = "npu"} {
  %w = arith.constant dense<3> : tensor<12x8xi8>
  %z = arith.constant dense<0> : tensor<i8>
  %0 = "ai.matmul_integer"(%x, %w, %z, %z) : (tensor<6x12xi8>, tensor<12x8xi8>, tensor<i8>, tensor<i8>) -> tensor<6x8xi32>
  return %0 : tensor<6x8xi32>
}
func.func @elsewhere(%x: tensor<2x6x12xf32>, %w: tensor<12x8xf32>, %b: tensor<8xf32>) -> tensor<2x6x8xf32> attributes {ai.target = "cpu"} {
  %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<2x6x12xf32>, tensor<12x8xf32>) -> tensor<2x6x8xf32>
  %1 = "ai.exp"(%0) : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  return %1 : tensor<2x6x8xf32>
}
func.func @caller(%x: tensor<2x6x12xf32>, %w: tensor<12x8xf32>, %b: tensor<8xf32>) -> tensor<2x6x8xf32> {
  %0 = call @elsewhere(%x, %w, %b) : (tensor<2x6x12xf32>, tensor<12x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  return %0 : tensor<2x6x8xf32>
}
