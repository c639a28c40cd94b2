// RUN: not aiopt -p ai-plan-memory %s 2>&1 | filecheck %s
// CHECK: error: level tensor does not allow 'func.func' @main with an argument of type memref<?xf32>: row-major buffers of static shape
module attributes {ai.level = "tensor", ai.net = "net"} {
  func.func @main(%x: memref<?xf32> {ai.name = "x"}) {
    %n = arith.constant 4 : index
    %a = memref.alloc(%n) : memref<?xf32>
    call @k(%x, %a) : (memref<?xf32>, memref<?xf32>) -> ()
    return
  }
  func.func private @k(%x: memref<?xf32>, %y: memref<?xf32>) attributes {ai.kernel} {
    return
  }
}
