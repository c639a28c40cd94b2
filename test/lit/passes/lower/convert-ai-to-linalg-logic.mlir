// RUN: aiopt -p convert-ai-to-linalg %s | filecheck %s
// RUN: sed 's/tensor<3xf32>/tensor<2xf32>/g' %s > %t.mlir
// RUN: not aiopt -p convert-ai-to-linalg %t.mlir 2>&1 | filecheck %s --check-prefix=SHAPE

// A truth value is a byte of 0 or 1; NaN compares false.
// CHECK-LABEL: func.func private @compare(
// CHECK: arith.cmpf olt
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: arith.andi %{{.*}} : i8
// CHECK: arith.xori %{{.*}} : i8
// CHECK: arith.cmpi ne, %{{.*}} : i8
// CHECK: arith.select

// CHECK-LABEL: func.func private @unsigned(
// CHECK: arith.cmpi ule

// SHAPE: error: {{.*}}ai.less

func.func private @compare(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.less"(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %1 = "ai.and"(%0, %0) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %2 = "ai.not"(%1) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %3 = "ai.select"(%2, %x, %y) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}
func.func private @unsigned(%x: tensor<4xui8>) -> tensor<4xi1> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.less_equal"(%x, %x) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
