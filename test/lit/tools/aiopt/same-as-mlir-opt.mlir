// Text comes out as mlir-opt prints it, from text and from bytecode, with locations and without.
// RUN: mlir-opt %s -o %t.upstream.mlir
// RUN: aiopt %s -o %t.ours.mlir
// RUN: diff %t.upstream.mlir %t.ours.mlir
// RUN: mlir-opt %s --emit-bytecode -o %t.mlirbc
// RUN: aiopt %t.mlirbc | diff %t.upstream.mlir -
// RUN: aiopt < %t.mlirbc | diff %t.upstream.mlir -
// RUN: mlir-opt %s --mlir-print-debuginfo -o %t.locations.mlir
// RUN: aiopt %s --mlir-print-debuginfo | diff %t.locations.mlir -
// RUN: mlir-opt %s --canonicalize --cse -o %t.passes.mlir
// RUN: aiopt %s -p canonicalize,cse | diff %t.passes.mlir -
#map = affine_map<(d0) -> (d0 * 2)>
module @named attributes {dlti.dl_spec = #dlti.dl_spec<index = 64>} {
  func.func @f(%m: memref<64xf32>, %n: index) -> f32 {
    %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %zero = arith.constant 0 : index
    %i = affine.apply #map(%n)
    %a = memref.load %m[%i] : memref<64xf32> loc("a name")
    %b = tensor.extract %c[%zero] : tensor<3xf32>
    %sum = arith.addf %a, %b : f32
    return %sum : f32
  }
}
