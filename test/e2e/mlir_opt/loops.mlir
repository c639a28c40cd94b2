#map = affine_map<(d0) -> (d0 * 2)>
module @named {
  func.func @called(%m: memref<64xf32>, %i: index) -> f32 {
    %j = affine.apply #map(%i)
    %v = memref.load %m[%j] : memref<64xf32>
    return %v : f32
  }
  func.func @loop(%m: memref<64xf32>, %n: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    scf.for %i = %c0 to %c32 step %c1 {
      %v = func.call @called(%m, %i) : (memref<64xf32>, index) -> f32
      memref.store %v, %n[%i] : memref<64xf32>
    }
    affine.for %k = 0 to 64 {
      %v = affine.load %m[%k] : memref<64xf32>
      affine.store %v, %n[%k] : memref<64xf32>
    }
    return
  }
}
