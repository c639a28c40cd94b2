// RUN: aiopt -p ai-plan-memory %s | filecheck %s

// No temporaries and no weights: the arguments are there all the same, of one cache line.
// CHECK: ai.arena_bytes = 0 : i64
// CHECK-SAME: ai.weights_bytes = 0 : i64
// CHECK-SAME: ai.weights_layout = {}
// CHECK: func.func @main(
// CHECK-SAME: %{{[a-z0-9]+}}: memref<64xi8>, %{{[a-z0-9]+}}: memref<64xi8>)
module attributes {ai.level = "tensor", ai.net = "net"} {
  func.func @main(%x: memref<4xf32> {ai.name = "x"}, %y: memref<4xf32> {ai.name = "y", ai.output}) {
    call @k(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
    return
  }
  func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {ai.kernel} {
    return
  }
}
