// RUN: aiopt -p convert-ai-to-linalg %s | filecheck %s
// RUN: sed 's/3x1xf32/2x1xf32/g' %s > %t.mlir
// RUN: not aiopt -p convert-ai-to-linalg %t.mlir 2>&1 | filecheck %s --check-prefix=SHAPE

// Broadcasting is an indexing map; a constant of equal elements is a scalar inside.
// CHECK: #[[BROADCAST:.*]] = affine_map<(d0, d1, d2) -> (d1, 0)>
// CHECK-LABEL: func.func private @broadcast(
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[BROADCAST]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK: arith.divf
// CHECK: linalg.generic
// CHECK: %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: arith.mulf %{{.*}}, %[[C]]

// CHECK-LABEL: func.func private @unary(
// CHECK: arith.maximumf
// CHECK: arith.negf
// CHECK: math.exp
// CHECK: math.erf

// bool is a byte; integers are signless, their signedness is in the op.
// CHECK-LABEL: func.func private @casts(
// CHECK-SAME: memref<4xf32>, %{{.*}}: memref<4xi8>, %{{.*}}: memref<4xi8>
// CHECK: arith.cmpf une
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: arith.uitofp %{{.*}} : i8 to f32
// CHECK: arith.minui

// Of unsigned integers the highest bit is no sign.
// CHECK-LABEL: func.func private @absolute(
// CHECK: math.absi %{{.*}} : i8
// CHECK-LABEL: func.func private @absolute_unsigned(
// CHECK-NOT: math.absi
// CHECK: return

// SHAPE: error: {{.*}}ai.div

func.func private @broadcast(%x: tensor<2x3x4xf32>, %y: tensor<3x1xf32>) -> tensor<2x3x4xf32> attributes {ai.kernel, ai.ops = []} {
  %c = arith.constant dense<2.0> : tensor<1xf32>
  %0 = "ai.div"(%x, %y) : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %1 = "ai.mul"(%0, %c) : (tensor<2x3x4xf32>, tensor<1xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}
func.func private @unary(%x: tensor<4xf32>) -> tensor<4xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "ai.sigmoid"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "ai.erf"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @casts(%x: tensor<4xf32>, %u: tensor<4xui8>) -> tensor<4xui8> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.cast"(%x) {to = i1} : (tensor<4xf32>) -> tensor<4xi1>
  %1 = "ai.cast"(%0) {to = f32} : (tensor<4xi1>) -> tensor<4xf32>
  %2 = "ai.cast"(%1) {to = ui8} : (tensor<4xf32>) -> tensor<4xui8>
  %3 = "ai.minimum"(%2, %u) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %3 : tensor<4xui8>
}
func.func private @absolute(%x: tensor<4xi8>) -> tensor<4xi8> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.abs"(%x) : (tensor<4xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}
func.func private @absolute_unsigned(%x: tensor<4xui8>) -> tensor<4xui8> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.abs"(%x) : (tensor<4xui8>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}
