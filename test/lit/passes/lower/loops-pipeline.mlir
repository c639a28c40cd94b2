// RUN: aiopt -p convert-ai-to-linalg,ai-loops-pipeline %s | filecheck %s
// RUN: not aiopt -p convert-ai-to-linalg,ai-loops-pipeline,ai-loops-pipeline %s 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not aiopt -p ai-loops-pipeline %s 2>&1 | filecheck %s --check-prefix=LEVEL
// RUN: not aiopt -p 'ai-loops-pipeline{tile=8}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// TWICE: error: schedule-tile-and-fuse takes IR of level tensor, but this is loops
// LEVEL: error: schedule-tile-and-fuse takes IR of level tensor, but this is kernels
// OPTION: error: ai-loops-pipeline has no option 'tile' (it has: cores, spare)

// @main is a list of calls over views of the arena; kernels are loops that allocate nothing.
// CHECK: ai.arena_bytes = 64 : i64
// CHECK-SAME: ai.level = "loops"
// CHECK-SAME: ai.weights_bytes = 64 : i64
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<2x4xf32> {ai.name = "x"}, %[[Y:[a-z0-9]+]]: memref<2x4xf32> {ai.name = "y", ai.output}, %[[W:[a-z0-9]+]]: memref<64xi8>, %[[ARENA:[a-z0-9]+]]: memref<64xi8>)
// CHECK-NOT: memref.alloc
// CHECK: %[[T:.*]] = memref.view %[[ARENA]]
// CHECK: call @softmax(%[[X]], %[[T]])
// CHECK: call @add(%[[T]], %{{.*}}, %[[Y]])
// CHECK-NEXT: return
// CHECK: func.func private @softmax(
// CHECK-NOT: linalg.
// CHECK-NOT: memref.alloc(
// CHECK: math.exp
// CHECK: func.func private @add(
// CHECK-NOT: linalg.
// CHECK: arith.addf
module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}) -> (tensor<2x4xf32> {ai.name = "y"}) {
    %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %0 = call @softmax(%x) {ai.nodes = ["Softmax_0"]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = call @add(%0, %w) {ai.nodes = ["Add_1"]} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
  func.func private @softmax(%a: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {ai.kernel, ai.ops = ["ai.softmax"]} {
    %0 = "ai.softmax"(%a) {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
  func.func private @add(%a: tensor<2x4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> attributes {ai.kernel, ai.ops = ["ai.add"]} {
    %0 = "ai.add"(%a, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}
