// RUN: aiopt -p ai-plan-memory %s | filecheck %s
// RUN: not aiopt -p 'ai-plan-memory{align=8}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: ai-plan-memory has no option 'align' (it has: spare)

// No call needs more than three buffers of 128 bytes: the arena has room for three. The unused alloc takes nothing, and
// the two equal constants are one weight.
// CHECK: module attributes {
// CHECK-SAME: ai.arena_bytes = 384 : i64
// CHECK-SAME: ai.arena_lower_bound_bytes = 384 : i64
// CHECK-SAME: ai.level = "loops"
// CHECK-SAME: ai.temporaries_bytes = 640 : i64
// CHECK-SAME: ai.weights_bytes = 192 : i64
// CHECK-SAME: ai.weights_layout = {constant = 0 : i64, constant.1 = 64 : i64}
module attributes {ai.level = "tensor", ai.net = "net"} {
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4x8xf32> {ai.name = "x"}
  // CHECK-SAME: %[[Y:[a-z0-9]+]]: memref<8x4xf32> {ai.name = "y", ai.output}
  // CHECK-SAME: %[[WEIGHTS:[a-z0-9]+]]: memref<192xi8>
  // CHECK-SAME: %[[ARENA:[a-z0-9]+]]: memref<384xi8>
  func.func @main(%x: memref<4x8xf32> {ai.name = "x"}, %y: memref<8x4xf32> {ai.name = "y", ai.output}) {
    // CHECK-NOT: memref.alloc
    // CHECK-NOT: bufferization
    // CHECK: %[[AT0:[a-z0-9_]+]] = arith.constant 0 : index
    // CHECK: %[[PAIR:[a-z0-9_]+]] = memref.view %[[WEIGHTS]][%[[AT0]]][] : memref<192xi8> to memref<2xf32>
    // CHECK: memref.view %[[WEIGHTS]][%{{.*}}][] : memref<192xi8> to memref<2xf32>
    // CHECK: %[[AT64:[a-z0-9_]+]] = arith.constant 64 : index
    // CHECK: memref.view %[[WEIGHTS]][%[[AT64]]][] : memref<192xi8> to memref<4x8xf32>
    %p = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %mp = bufferization.to_buffer %p read_only : tensor<2xf32> to memref<2xf32>
    %q = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %mq = bufferization.to_buffer %q read_only : tensor<2xf32> to memref<2xf32>
    %w = arith.constant dense<3.0> : tensor<4x8xf32>
    %mw = bufferization.to_buffer %w read_only : tensor<4x8xf32> to memref<4x8xf32>
    %a = memref.alloc() : memref<4x8xf32>
    %b = memref.alloc() : memref<4x8xf32>
    %c = memref.alloc() : memref<4x8xf32>
    %d = memref.alloc() : memref<4x8xf32>
    %scratch = memref.alloc() : memref<100xi8>
    %unused = memref.alloc() : memref<1000xi8>
    // CHECK: %[[A:[a-z0-9_]+]] = memref.view %[[ARENA]]
    // CHECK: call @add(%[[X]], %{{.*}}, %[[A]]) {ai.nodes = ["a"]}
    call @add(%x, %mw, %a) {ai.nodes = ["a"]} : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
    // CHECK: %[[R:[a-z0-9_]+]] = memref.reinterpret_cast %[[A]]
    %r = memref.reinterpret_cast %a to offset: [0], sizes: [8, 4], strides: [4, 1]
        : memref<4x8xf32> to memref<8x4xf32>
    call @add(%x, %mw, %b) {ai.nodes = ["b"]} : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
    call @add(%x, %b, %c) {ai.nodes = ["c"]} : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
    call @add(%x, %c, %d) {ai.nodes = ["d"]} : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
    // CHECK: call @last(%[[R]], %[[PAIR]], %{{.*}}, %[[Y]], %{{.*}})
    call @last(%r, %mp, %mq, %y, %scratch) {ai.nodes = ["e"]}
        : (memref<8x4xf32>, memref<2xf32>, memref<2xf32>, memref<8x4xf32>, memref<100xi8>) -> ()
    return
  }
  func.func private @add(%a: memref<4x8xf32>, %b: memref<4x8xf32>, %c: memref<4x8xf32>) attributes {ai.kernel} {
    return
  }
  func.func private @last(
      %a: memref<8x4xf32>, %b: memref<2xf32>, %c: memref<2xf32>, %d: memref<8x4xf32>, %e: memref<100xi8>)
      attributes {ai.kernel} {
    return
  }
}
