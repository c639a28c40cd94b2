// RUN: not aiopt -p cpu-outline-tasks %s 2>&1 | filecheck %s
// CHECK: error: cpu-outline-tasks: the scf.forall at {{.*}} has ai.width = 3 : i64, which must be a number that divides its 8 iterations
module attributes {ai.level = "loops", ai.net = "net"} {
  func.func @main(%y: memref<8xf32> {ai.name = "y", ai.output}, %weights: memref<64xi8>, %arena: memref<64xi8>) {
    call @k(%y) : (memref<8xf32>) -> ()
    return
  }
  func.func private @k(%y: memref<8xf32>) attributes {ai.kernel} {
    scf.forall (%i) in (8) {
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %y[%i] : memref<8xf32>
    } {ai.width = 3 : i64}
    return
  }
}
