// RUN: aiopt -p 'ai-plan-threads{cores=2 grain=100 cost=10}' %s | filecheck %s
// RUN: aiopt -p 'ai-plan-threads{cores=2 grain=100 cost=10},ai-plan-memory' %s | filecheck %s --check-prefix=MEMORY
// RUN: aiopt -p 'ai-plan-threads{cores=2 grain=100 cost=10},ai-plan-memory,cpu-outline-tasks,cpu-run-side-by-side' %s \
// RUN:   | filecheck %s --check-prefix=CPU
// RUN: aiopt -p 'ai-plan-threads{grain=100 cost=10}' %s | filecheck %s --check-prefix=ONE
// RUN: aiopt -p 'ai-plan-threads{cores=2 grain=100 cost=10000}' %s | filecheck %s --check-prefix=ONE
// RUN: sed 's/attributes {ai.kernel, ai.scratch/attributes {ai.serial, ai.kernel, ai.scratch/; s/"left"]/"left"], ai.region = 3/' \
// RUN:   %s | sed 's/"middle"]/"middle"], ai.region = 3/' | not aiopt -p ai-plan-memory 2>&1 \
// RUN:   | filecheck %s --check-prefix=SPLIT
// SPLIT: error: {{.*}}level loops does not allow 'func.call' of region 3, of a kernel that is not ai.serial
// RUN: sed 's/attributes {ai.kernel/attributes {ai.serial, ai.kernel/; s/"left"]/"left"], ai.region = 3/' \
// RUN:   %s | sed 's/"middle"]/"middle"], ai.region = 3/' | not aiopt -p ai-plan-memory 2>&1 \
// RUN:   | filecheck %s --check-prefix=DEPENDS
// DEPENDS: error: {{.*}}level loops does not allow 'func.call' of region 3, where @short shares a buffer with it
// RUN: sed 's/attributes {ai.kernel/attributes {ai.serial, ai.kernel/; s/"left"]/"left"], ai.region = 3/' \
// RUN:   %s | sed 's/"right"]/"right"], ai.region = 3/' | not aiopt -p ai-plan-memory 2>&1 \
// RUN:   | filecheck %s --check-prefix=APART
// APART: error: {{.*}}level loops does not allow 'func.call' of region 3, whose other calls it does not stand beside
// RUN: not aiopt -p 'ai-plan-threads{threads=2}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: ai-plan-threads has no option 'threads' (it has: cores, cost, grain)

// No region on one core, nor where it costs more than it saves; whether a kernel is serial does not depend on either.
// ONE-NOT: ai.region
// ONE: @long({{.*}} attributes {ai.bytes = 60 : i64, ai.flops = 1000 : i64, ai.kernel, ai.nanoseconds = 101 : i64}
// ONE: @short({{.*}} attributes {ai.bytes = 60 : i64, ai.flops = 900 : i64, ai.kernel, ai.nanoseconds = 91 : i64, ai.scratch = 1 : i64, ai.serial}

// The second branch moves up to the first one, across a kernel that does not touch it, and what joins them stays. The
// two branches run at once, so neither gives its scratch to the other: what they read and write and two of it is in the
// arena, where one after the other would do with one.
// MEMORY: ai.arena_bytes = 320 : i64
// MEMORY-SAME: ai.arena_lower_bound_bytes = 320 : i64
module attributes {ai.level = "tensor", ai.net = "net"} {
  // CHECK-LABEL: func.func @main
  // CHECK: call @long(%{{.*}}, %[[A:.*]]) {ai.nodes = ["stem"]}
  // CHECK-NEXT: call @short(%[[A]], %[[B:.*]], %{{.*}}) {ai.nodes = ["left"], ai.region = 0 : i64}
  // CHECK-NEXT: call @short(%[[A]], %[[C:.*]], %{{.*}}) {ai.nodes = ["right"], ai.region = 0 : i64}
  // CHECK-NEXT: call @long(%[[B]], %[[D:.*]]) {ai.nodes = ["middle"]}
  // CHECK-NEXT: call @short(%[[C]], %[[E:.*]], %{{.*}}) {ai.nodes = ["next"]}
  // CHECK-NEXT: call @join(%[[D]], %[[E]], %{{.*}}) {ai.nodes = ["join"]}

  // CPU: func.func private @aiopt_net_region_0(%[[X:[a-z0-9]+]]: memref<4xf32>, %[[Y:[a-z0-9]+]]: memref<4xf32>,
  // CPU-SAME: %{{.*}}: index, %{{.*}}: index)
  // CPU-SAME: attributes {ai.kernels = ["short", "short"]}
  // CPU: scf.if
  // CPU-NEXT: call @short(%[[X]], %[[Y]],
  // CPU: scf.if
  // CPU-NEXT: call @short(%[[X]],
  // CPU-LABEL: func.func @main
  // CPU: call @long
  // CPU: %[[C2:.*]] = arith.constant 2 : index
  // CPU: call @aiopt_net_region_0(%[[A:.*]], %[[B:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[C2]]) {ai.nodes = ["left", "right"], ai.parallel = 2 : i64}
  // CPU: call @long(%[[B]]
  func.func @main(%x: memref<4xf32> {ai.name = "x"}, %y: memref<4xf32> {ai.name = "y", ai.output}) {
    %a = memref.alloc() : memref<4xf32>
    call @long(%x, %a) {ai.nodes = ["stem"]} : (memref<4xf32>, memref<4xf32>) -> ()
    %b = memref.alloc() : memref<4xf32>
    %s1 = memref.alloc() : memref<4xf32>
    call @short(%a, %b, %s1) {ai.nodes = ["left"]} : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
    %d = memref.alloc() : memref<4xf32>
    call @long(%b, %d) {ai.nodes = ["middle"]} : (memref<4xf32>, memref<4xf32>) -> ()
    %c = memref.alloc() : memref<4xf32>
    %s2 = memref.alloc() : memref<4xf32>
    call @short(%a, %c, %s2) {ai.nodes = ["right"]} : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
    %e = memref.alloc() : memref<4xf32>
    %s3 = memref.alloc() : memref<4xf32>
    call @short(%c, %e, %s3) {ai.nodes = ["next"]} : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
    call @join(%d, %e, %y) {ai.nodes = ["join"]} : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
    return
  }
  // CHECK: @long({{.*}} attributes {ai.bytes = 60 : i64, ai.flops = 1000 : i64, ai.kernel, ai.nanoseconds = 101 : i64}
  func.func private @long(%a: memref<4xf32>, %b: memref<4xf32>)
      attributes {ai.kernel, ai.flops = 1000 : i64, ai.bytes = 60 : i64} {
    scf.forall (%i) in (4) {
      %v = memref.load %a[%i] : memref<4xf32>
      memref.store %v, %b[%i] : memref<4xf32>
    }
    return
  }
  // CHECK: @short({{.*}} ai.nanoseconds = 91 : i64, ai.scratch = 1 : i64, ai.serial}
  func.func private @short(%a: memref<4xf32>, %b: memref<4xf32>, %s: memref<4xf32>)
      attributes {ai.kernel, ai.scratch = 1 : i64, ai.flops = 900 : i64, ai.bytes = 60 : i64} {
    scf.forall (%i) in (4) {
      %v = memref.load %a[%i] : memref<4xf32>
      memref.store %v, %s[%i] : memref<4xf32>
      memref.store %v, %b[%i] : memref<4xf32>
    }
    return
  }
  // What has no parallel loop is serial, however long it takes. Without numbers its loops are counted.
  // CHECK: @join({{.*}} attributes {ai.kernel, ai.nanoseconds = {{[0-9]+}} : i64, ai.serial}
  func.func private @join(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %u = memref.load %a[%i] : memref<4xf32>
      %v = memref.load %b[%i] : memref<4xf32>
      %w = arith.addf %u, %v : f32
      memref.store %w, %c[%i] : memref<4xf32>
    }
    return
  }
}
