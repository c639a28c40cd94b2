// RUN: aiopt -p schedule-split-rest %s | filecheck %s
// RUN: aiopt -p 'schedule-split-rest{least=1000000}' %s | filecheck %s --check-prefix=WHOLE
// RUN: not aiopt -p 'schedule-split-rest{rows=4}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: schedule-split-rest has no option 'rows' (it has: elements, least)

// WHOLE-LABEL: func.func private @concat(
// WHOLE-NOT: scf.forall
// WHOLE-LABEL: func.func private @stay(
#same = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module attributes {ai.level = "tensor"} {
  // Copies of a concat: a row of pixels, or a part of one, in an iteration.
  // CHECK-LABEL: func.func private @concat(
  // CHECK: scf.forall (%{{.*}}, %[[I:.*]]) in (1, 80)
  // CHECK: memref.subview %{{.*}} [1, 1, 80, 16] [1, 1, 1, 1]
  // CHECK: linalg.copy
  // CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (1, 80, 2)
  // CHECK: memref.subview %{{.*}} [1, 1, 40, 48] [1, 1, 1, 1]
  // CHECK: linalg.generic
  func.func private @concat(%a: memref<1x80x80x16xf32>, %b: memref<1x80x80x48xf32>, %out: memref<1x80x80x64xf32>) attributes {ai.kernel} {
    %0 = memref.subview %out[0, 0, 0, 0] [1, 80, 80, 16] [1, 1, 1, 1] : memref<1x80x80x64xf32> to memref<1x80x80x16xf32, strided<[409600, 5120, 64, 1]>>
    linalg.copy ins(%a : memref<1x80x80x16xf32>) outs(%0 : memref<1x80x80x16xf32, strided<[409600, 5120, 64, 1]>>)
    %1 = memref.subview %out[0, 0, 0, 16] [1, 80, 80, 48] [1, 1, 1, 1] : memref<1x80x80x64xf32> to memref<1x80x80x48xf32, strided<[409600, 5120, 64, 1], offset: 16>>
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%b : memref<1x80x80x48xf32>) outs(%1 : memref<1x80x80x48xf32, strided<[409600, 5120, 64, 1], offset: 16>>) {
    ^bb0(%x: f32, %y: f32):
      linalg.yield %x : f32
    }
    return
  }

  // Neither a small op, nor one in a loop, nor a fold along its outermost axis is split.
  // CHECK-LABEL: func.func private @stay(
  // CHECK-NOT: in (1
  // CHECK: scf.forall (%{{.*}}) in (2)
  // CHECK-NOT: scf.forall
  func.func private @stay(%a: memref<2x64x256xf32>, %b: memref<2x64x256xf32>, %s: memref<16xf32>, %t: memref<16xf32>, %sum: memref<256xf32>) attributes {ai.kernel} {
    scf.forall (%i) in (2) {
      %0 = memref.subview %a[%i, 0, 0] [1, 64, 256] [1, 1, 1] : memref<2x64x256xf32> to memref<1x64x256xf32, strided<[16384, 256, 1], offset: ?>>
      %1 = memref.subview %b[%i, 0, 0] [1, 64, 256] [1, 1, 1] : memref<2x64x256xf32> to memref<1x64x256xf32, strided<[16384, 256, 1], offset: ?>>
      linalg.copy ins(%0 : memref<1x64x256xf32, strided<[16384, 256, 1], offset: ?>>) outs(%1 : memref<1x64x256xf32, strided<[16384, 256, 1], offset: ?>>)
    }
    linalg.copy ins(%s : memref<16xf32>) outs(%t : memref<16xf32>)
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%a : memref<2x64x256xf32>) outs(%sum : memref<256xf32>) {
    ^bb0(%x: f32, %y: f32):
      %0 = arith.addf %x, %y : f32
      linalg.yield %0 : f32
    }
    return
  }
}
