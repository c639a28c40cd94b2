// RUN: aiopt -p ai-expand-math %s | filecheck %s
// RUN: aiopt -p 'func.func(ai-expand-math{fma=true})' %s | filecheck %s --check-prefix=FMA
// RUN: not aiopt -p 'ai-expand-math{fma=1.5}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not aiopt -p ai-cpu-lower-pipeline,ai-expand-math %s 2>&1 | filecheck %s --check-prefix=LEVEL
// OPTION: error: ai-expand-math: option 'fma' takes true or false, not '1.5'
// LEVEL: error: ai-expand-math takes IR of level loops, but this is llvm

module attributes {ai.level = "loops", ai.net = "net", ai.arena_bytes = 0 : i64, ai.weights_bytes = 0 : i64} {
  func.func @main(%x: memref<8xf32> {ai.name = "x"}, %y: memref<8xf32> {ai.name = "y", ai.output},
                  %weights: memref<64xi8>, %arena: memref<64xi8>) {
    call @scalar(%x, %y) {ai.nodes = ["Exp_0"]} : (memref<8xf32>, memref<8xf32>) -> ()
    call @vector(%x, %y) {ai.nodes = ["Exp_1"]} : (memref<8xf32>, memref<8xf32>) -> ()
    call @left(%x, %y) {ai.nodes = ["Exp_2"]} : (memref<8xf32>, memref<8xf32>) -> ()
    return
  }

  // CHECK-LABEL: func.func private @scalar(
  // CHECK-NOT: math.
  // CHECK: arith.bitcast %{{.*}} : f32 to i32
  // CHECK-NOT: math.
  // CHECK: arith.bitcast %{{.*}} : i32 to f32
  // CHECK-NOT: math.
  // CHECK: memref.store
  // FMA-LABEL: func.func private @scalar(
  // FMA: math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
  // FMA: memref.store
  func.func private @scalar(%a: memref<8xf32>, %b: memref<8xf32>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %u = memref.load %a[%c0] : memref<8xf32>
    %e = math.exp %u : f32
    memref.store %e, %b[%c0] : memref<8xf32>
    return
  }

  // The absolute value and the sign are instructions of the CPU; a square is a product.
  // CHECK-LABEL: func.func private @vector(
  // CHECK: arith.constant dense<{{.*}}> : vector<8xf32>
  // CHECK: arith.shrsi %{{.*}}, %{{.*}} : vector<8xi32>
  // CHECK: math.absf %{{.*}} : vector<8xf32>
  // CHECK: arith.divf %{{.*}}, %{{.*}} : vector<8xf32>
  // CHECK: %[[T:[a-z0-9_]+]] = math.copysign %{{.*}}, %{{.*}} : vector<8xf32>
  // CHECK: %[[F:[a-z0-9_]+]] = math.copysign %{{.*}}, %[[T]] : vector<8xf32>
  // CHECK-NEXT: %[[S:[a-z0-9_]+]] = arith.mulf %[[F]], %[[F]] : vector<8xf32>
  // CHECK-NEXT: vector.store %[[S]]
  // FMA-LABEL: func.func private @vector(
  // FMA: math.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf32>
  // FMA: vector.store
  func.func private @vector(%a: memref<8xf32>, %b: memref<8xf32>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %two = arith.constant dense<2.0> : vector<8xf32>
    %u = vector.load %a[%c0] : memref<8xf32>, vector<8xf32>
    %l = math.log %u : vector<8xf32>
    %t = math.tanh %l : vector<8xf32>
    %f = math.erf %t : vector<8xf32>
    %s = math.powf %f, %two : vector<8xf32>
    vector.store %s, %b[%c0] : memref<8xf32>, vector<8xf32>
    return
  }

  // Other types, powers and functions are left alone.
  // CHECK-LABEL: func.func private @left(
  // CHECK: math.powf
  // CHECK-NEXT: math.sin
  // CHECK-NEXT: arith.extf
  // CHECK-NEXT: math.exp %{{.*}} : f64
  // CHECK-NEXT: arith.truncf
  // CHECK-NEXT: math.tanh %{{.*}} : f16
  func.func private @left(%a: memref<8xf32>, %b: memref<8xf32>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %u = memref.load %a[%c0] : memref<8xf32>
    %p = math.powf %u, %u : f32
    %s = math.sin %p : f32
    %d = arith.extf %s : f32 to f64
    %e = math.exp %d : f64
    %h = arith.truncf %e : f64 to f16
    %t = math.tanh %h : f16
    %r = arith.extf %t : f16 to f32
    memref.store %r, %b[%c0] : memref<8xf32>
    return
  }
}
