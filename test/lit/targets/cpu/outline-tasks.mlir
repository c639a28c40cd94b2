// RUN: aiopt -p cpu-outline-tasks %s | filecheck %s
// RUN: sed 's/{ai.kernel}/{ai.kernel, ai.serial}/' %s | aiopt -p cpu-outline-tasks | filecheck %s --check-prefix=SERIAL
// RUN: not aiopt -p 'cpu-outline-tasks{threads=2}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: cpu-outline-tasks has no option 'threads' (it has none)

// All loops of a serial kernel are called without.
// SERIAL-NOT: ai.parallel

// CHECK: ai.level = "cpu"
module attributes {ai.level = "loops", ai.net = "net"} {
  // CHECK: memref.global
  memref.global "private" constant @table : memref<4xf32> = dense<[0.0, 1.0, 2.0, 3.0]>

  func.func @main(%x: memref<8x4x16xf32> {ai.name = "x"}, %y: memref<8x4x16xf32> {ai.name = "y", ai.output},
                  %weights: memref<64xi8>, %arena: memref<64xi8>) {
    call @scale(%x, %y) : (memref<8x4x16xf32>, memref<8x4x16xf32>) -> ()
    return
  }

  // The task has the kernel's buffers and a range, its own constants, and its alloca at the head.
  // CHECK-LABEL: func.func private @scale_task_0(
  // CHECK-SAME: %[[A:[a-z0-9]+]]: memref<8x4x16xf32> {llvm.noalias}
  // CHECK-SAME: %[[B:[a-z0-9]+]]: memref<8x4x16xf32> {llvm.noalias}
  // CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index
  // CHECK-NEXT: %[[ROW:[a-z0-9_]+]] = memref.alloca() {alignment = 64 : i64} : memref<16xf32>
  // CHECK: memref.get_global @table
  // The rows of the range are walked one by one, so that the last dimension is an inner loop.
  // CHECK: %[[FIRST:.*]] = arith.divui %[[BEGIN]]
  // CHECK: %[[LAST:.*]] = arith.divui
  // CHECK: scf.for %[[I:.*]] = %[[FIRST]] to %[[LAST]]
  // CHECK: arith.maxsi
  // CHECK: arith.minsi
  // CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}}
  // CHECK: memref.load %{{.*}}[%[[J]]] : memref<4xf32>
  // CHECK: memref.load %[[A]][%[[I]], %[[J]], %{{.*}}]
  // CHECK: memref.store %{{.*}}, %[[B]][%[[I]], %[[J]], %{{.*}}]
  // CHECK-NOT: scf.forall

  // Bounds and steps are put back into the indices of a one-dimensional loop.
  // CHECK-LABEL: func.func private @scale_task_1(
  // CHECK-SAME: memref<8x4x16xf32>
  // CHECK: scf.for %[[N:.*]] = %{{.*}} to %{{.*}}
  // CHECK: %[[SCALED:.*]] = arith.muli %[[N]]
  // CHECK: %[[INDEX:.*]] = arith.addi %[[SCALED]]
  // CHECK: memref.store %{{.*}}[%[[INDEX]]

  // CHECK-LABEL: func.func private @scale(
  // CHECK-SAME: {llvm.noalias}
  // CHECK: %[[C32:.*]] = arith.constant 32 : index
  // CHECK: call @scale_task_0(%{{.*}}, %{{.*}}, %{{.*}}, %[[C32]]) {ai.parallel = 4 : i64}
  // CHECK: %[[C3:.*]] = arith.constant 3 : index
  // CHECK: call @scale_task_1(%{{.*}}, %{{.*}}, %[[C3]]) {ai.parallel = 3 : i64} : (memref<8x4x16xf32>, index, index) -> ()
  func.func private @scale(%a: memref<8x4x16xf32>, %b: memref<8x4x16xf32>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %table = memref.get_global @table : memref<4xf32>
    scf.forall (%i, %j) in (8, 4) {
      %row = memref.alloca() : memref<16xf32>
      %s = memref.load %table[%j] : memref<4xf32>
      scf.for %k = %c0 to %c16 step %c1 {
        %u = memref.load %a[%i, %j, %k] : memref<8x4x16xf32>
        %v = arith.mulf %u, %s : f32
        memref.store %v, %row[%k] : memref<16xf32>
        memref.store %v, %b[%i, %j, %k] : memref<8x4x16xf32>
      }
    } {ai.width = 4 : i64}
    scf.forall (%i) = (1) to (7) step (2) {
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %b[%i, %c0, %c0] : memref<8x4x16xf32>
    }
    return
  }
}
