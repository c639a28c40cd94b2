// RUN: not aiopt -p cpu-outline-tasks %s 2>&1 | filecheck %s
// CHECK: error: cpu-outline-tasks: scf.forall at {{.*}} needs constant bounds
module attributes {ai.level = "loops", ai.net = "net"} {
  func.func @main(%y: memref<8xf32> {ai.name = "y", ai.output}, %weights: memref<64xi8>, %arena: memref<64xi8>) {
    call @k(%y) : (memref<8xf32>) -> ()
    return
  }
  func.func private @k(%y: memref<8xf32>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %n = memref.dim %y, %c0 : memref<8xf32>
    scf.forall (%i) in (%n) {
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %y[%i] : memref<8xf32>
    }
    return
  }
}
