// RUN: aiopt -p ai-expand-bf16 %s | filecheck %s
// RUN: aiopt -p 'func.func(ai-expand-bf16{native=true})' %s | filecheck %s --check-prefix=NATIVE
// RUN: not aiopt -p 'ai-expand-bf16{native=2}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: ai-expand-bf16: option 'native' takes true or false, not '2'

module attributes {ai.level = "loops", ai.net = "net", ai.arena_bytes = 0 : i64, ai.weights_bytes = 0 : i64} {
  func.func @main(%x: memref<8xbf16> {ai.name = "x"}, %y: memref<8xbf16> {ai.name = "y", ai.output},
                  %weights: memref<64xi8>, %arena: memref<64xi8>) {
    call @kernel(%x, %y) {ai.nodes = ["Mul_0"]} : (memref<8xbf16>, memref<8xbf16>) -> ()
    return
  }

  // CHECK-LABEL: func.func private @kernel(
  // CHECK: %[[LOADED:.*]] = vector.load
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[LOADED]] : vector<8xbf16> to vector<8xi16>
  // CHECK: %[[WIDE:.*]] = arith.extui %[[BITS]] : vector<8xi16> to vector<8xi32>
  // CHECK: %[[HIGH:.*]] = arith.shli %[[WIDE]]
  // CHECK: arith.bitcast %[[HIGH]] : vector<8xi32> to vector<8xf32>
  // CHECK: arith.mulf
  // CHECK: arith.cmpf uno
  // CHECK: %[[LOW:.*]] = arith.trunci %{{.*}} : vector<8xi32> to vector<8xi16>
  // CHECK: %[[OUT:.*]] = arith.bitcast %[[LOW]] : vector<8xi16> to vector<8xbf16>
  // CHECK: vector.store %[[OUT]]
  // CHECK: arith.sitofp %{{.*}} : i32 to f32
  // CHECK-NOT: arith.truncf
  // An f16 is not its business.
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // NATIVE-LABEL: func.func private @kernel(
  // NATIVE: arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
  // NATIVE: arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
  // NATIVE: %[[WHOLE:.*]] = arith.sitofp %{{.*}} : i32 to f32
  // NATIVE: arith.truncf %[[WHOLE]] : f32 to bf16
  func.func private @kernel(%a: memref<8xbf16>, %b: memref<8xbf16>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %u = vector.load %a[%c0] : memref<8xbf16>, vector<8xbf16>
    %w = arith.extf %u : vector<8xbf16> to vector<8xf32>
    %p = arith.mulf %w, %w : vector<8xf32>
    %n = arith.truncf %p : vector<8xf32> to vector<8xbf16>
    vector.store %n, %b[%c0] : memref<8xbf16>, vector<8xbf16>
    %i = arith.index_cast %c0 : index to i32
    %f = arith.sitofp %i : i32 to bf16
    memref.store %f, %b[%c0] : memref<8xbf16>
    %half = arith.constant 1.0 : f16
    %ext = arith.extf %half : f16 to f32
    return
  }
}
