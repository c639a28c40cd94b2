// What has no elements gets no buffer: kernels that make it go, with their calls, and others do not take it.
// RUN: aiopt -p convert-ai-to-linalg %s | filecheck %s
// RUN: aiopt -p convert-ai-to-linalg,ai-loops-pipeline %s | filecheck %s --check-prefix=LOOPS
// RUN: aiopt-run %s | filecheck %s --check-prefix=NET

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<4x3xf32> {ai.name = "x"}, %[[E:.*]]: memref<4x0xf32> {ai.name = "e"}, %[[Y:.*]]: memref<4x3xf32> {ai.name = "y", ai.output}, %{{.*}}: memref<0x3xf32> {ai.name = "z", ai.output})
// CHECK-NOT: memref.alloc
// CHECK: call @concat_1(%[[X]], %[[Y]])
// CHECK-NOT: call
// CHECK: return
// CHECK-NOT: @slice_0
// CHECK: func.func private @concat_1(%{{.*}}: memref<4x3xf32>, %{{.*}}: memref<4x3xf32>)
// CHECK: tensor.insert_slice
// CHECK-NOT: tensor.insert_slice

// LOOPS: ai.temporaries_bytes = 0
// LOOPS-NOT: slice_0

// NET: output y: 4x3 float32
// NET: output z: 0x3 float32, min nan
// NET: launches: 1
module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%x: tensor<4x3xf32> {ai.name = "x"}, %e: tensor<4x0xf32> {ai.name = "e"}) -> (tensor<4x3xf32> {ai.name = "y"}, tensor<0x3xf32> {ai.name = "z"}) {
    %t = call @slice_0(%x) {ai.nodes = ["slice"]} : (tensor<4x3xf32>) -> tensor<0x3xf32>
    %y = call @concat_1(%x, %e) {ai.nodes = ["concat"]} : (tensor<4x3xf32>, tensor<4x0xf32>) -> tensor<4x3xf32>
    return %y, %t : tensor<4x3xf32>, tensor<0x3xf32>
  }
  func.func private @slice_0(%x: tensor<4x3xf32>) -> tensor<0x3xf32> attributes {ai.bytes = 48 : i64, ai.flops = 0 : i64, ai.kernel, ai.ops = ["ai.slice"]} {
    %0 = "ai.slice"(%x) {sizes = array<i64: 0, 3>, starts = array<i64: 4, 0>, steps = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<0x3xf32>
    return %0 : tensor<0x3xf32>
  }
  func.func private @concat_1(%x: tensor<4x3xf32>, %e: tensor<4x0xf32>) -> tensor<4x3xf32> attributes {ai.bytes = 96 : i64, ai.flops = 0 : i64, ai.kernel, ai.ops = ["ai.concat"]} {
    %0 = "ai.concat"(%x, %e) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0>} : (tensor<4x3xf32>, tensor<4x0xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}
