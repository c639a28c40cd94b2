// RUN: not aiopt -p cpu-outline-tasks %s 2>&1 | filecheck %s
// CHECK: error: cpu-outline-tasks: the scf.forall at {{.*}}outline-tasks-captured.mlir{{.*}} uses %{{[a-z0-9]+}} from outside, which is neither a buffer nor cheap to compute again: move it into the loop
module attributes {ai.level = "loops", ai.net = "net"} {
  func.func @main(%x: memref<8xf32> {ai.name = "x"}, %y: memref<8xf32> {ai.name = "y", ai.output},
                  %weights: memref<64xi8>, %arena: memref<64xi8>) {
    call @k(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
    return
  }
  func.func private @k(%x: memref<8xf32>, %y: memref<8xf32>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %first = memref.load %x[%c0] : memref<8xf32>
    scf.forall (%i) in (8) {
      memref.store %first, %y[%i] : memref<8xf32>
    }
    return
  }
}
