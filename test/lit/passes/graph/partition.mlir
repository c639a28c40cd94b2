// RUN: aiopt -p ai-partition %s | filecheck %s
// RUN: aiopt -p ai-partition %s -o %t.mlir && aiopt %t.mlir | filecheck %s
// RUN: sed 's/ai.target = "npu"/ai.flops = 1 : i64/' %s | not aiopt -p ai-partition - 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not aiopt -p ai-partition %t.mlir 2>&1 | filecheck %s --check-prefix=LEVEL
// RUN: sed 's/{ai.part, ai.target = "npu"}/{ai.part, ai.target = "cpu"}/' %t.mlir > %t.other.mlir
// RUN: not aiopt %t.other.mlir 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: sed 's/ai.part, ai.target/ai.target/' %t.mlir > %t.none.mlir
// RUN: not aiopt %t.none.mlir 2>&1 | filecheck %s --check-prefix=NONE
// TARGET: error: kernel @add_0 has no ai.target: run ai-assign-target before ai-partition
// LEVEL: error: ai-partition takes IR of level kernels, but this is parts
// OTHER: error: level parts does not allow 'func.call' of @add_0 of target "npu" in a part of target "cpu"
// NONE: error: level parts does not allow 'func.call' of @part_0_npu in @main: it has no attribute ai.part

// The kernel in the middle is apart from those around it, which cannot be one part: a path leads through it. Constants
// and views go where they are read; what two parts read is handed over once.
// CHECK: module attributes {ai.level = "parts"}
// CHECK: func.func @main(%[[X:.*]]: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<2x4xf32>)
// CHECK-NEXT: %[[A:.*]] = call @part_0_npu(%[[X]])
// CHECK-NEXT: %[[B:.*]] = call @part_1_cpu(%[[A]]) : (tensor<2x4xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[C:.*]] = call @part_2_npu(%[[B]], %[[X]]) : (tensor<8xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: return %[[B]], %[[C]]
// CHECK: func.func private @part_0_npu(%[[X0:.*]]: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {ai.part, ai.target = "npu"}
// CHECK-NEXT: %[[W:.*]] = arith.constant
// CHECK-NEXT: %[[R:.*]] = call @add_0(%[[X0]], %[[W]]) {ai.nodes = ["Add_0"]}
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @part_1_cpu(%[[A1:.*]]: tensor<2x4xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[V:.*]] = "ai.reshape"(%[[A1]])
// CHECK-NEXT: %[[D:.*]] = call @relu_1(%[[V]]) {ai.why = "npu: not alone"}
// CHECK-NEXT: %[[E:.*]] = call @relu_1(%[[D]])
// CHECK-NEXT: return %[[E]]
// CHECK: func.func private @part_2_npu(%[[B2:.*]]: tensor<8xf32>, %[[X2:.*]]: tensor<2x4xf32>)
// CHECK: "ai.reshape"(%[[B2]])
module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<2x4xf32>) {
    %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
    %0 = call @add_0(%x, %w) {ai.nodes = ["Add_0"], ai.partition = 7 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = "ai.reshape"(%0) {shape = array<i64: 8>} : (tensor<2x4xf32>) -> tensor<8xf32>
    %2 = call @relu_1(%1) {ai.why = "npu: not alone"} : (tensor<8xf32>) -> tensor<8xf32>
    %3 = call @relu_1(%2) : (tensor<8xf32>) -> tensor<8xf32>
    %4 = "ai.reshape"(%3) {shape = array<i64: 2, 4>} : (tensor<8xf32>) -> tensor<2x4xf32>
    %5 = call @add_0(%4, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    return %3, %5 : tensor<8xf32>, tensor<2x4xf32>
  }
  func.func private @add_0(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {ai.kernel, ai.ops = ["ai.add"], ai.target = "npu"} {
    %0 = "ai.add"(%a, %b) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
  func.func private @relu_1(%a: tensor<8xf32>) -> tensor<8xf32> attributes {ai.kernel, ai.ops = ["ai.relu"], ai.target = "cpu"} {
    %0 = "ai.relu"(%a) : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
