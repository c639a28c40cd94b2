// RUN: not aiopt -p ai-plan-memory %s 2>&1 | filecheck %s
// CHECK: error: the value of constant 'lost' is not known
module attributes {ai.level = "tensor", ai.net = "net"} {
  func.func @main(%y: memref<4xf32> {ai.name = "y", ai.output}) {
    %w = "ai.constant"() {key = "lost"} : () -> tensor<4xf32>
    %m = bufferization.to_buffer %w read_only : tensor<4xf32> to memref<4xf32>
    call @k(%m, %y) : (memref<4xf32>, memref<4xf32>) -> ()
    return
  }
  func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {ai.kernel} {
    return
  }
}
