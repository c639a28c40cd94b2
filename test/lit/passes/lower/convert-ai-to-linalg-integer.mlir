// RUN: aiopt -p convert-ai-to-linalg %s | filecheck %s

// A zero point that is known is part of the loop's body, and 0 is not subtracted at all.
// CHECK-LABEL: func.func private @multiply(
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins(%{{.*}}, %{{.*}} : tensor<3x4xi8>, tensor<4x5xi8>) outs(%{{.*}} : tensor<3x5xi32>)
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.subi
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK-NOT: arith.subi
// CHECK: arith.muli
// CHECK: arith.addi

// The product is one rounding of the scales, one of the conversion and one to an integer; NaN and what is out of range
// is limited before it becomes an integer.
// CHECK-LABEL: func.func private @qlinear(
// CHECK: ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<3x4xi8>, tensor<4x5xi8>, tensor<5xi8>) outs(%{{.*}} : tensor<3x5xi32>)
// CHECK: linalg.generic
// CHECK: %[[SCALES:.*]] = arith.mulf
// CHECK: %[[FACTOR:.*]] = arith.divf %[[SCALES]]
// CHECK: %[[SUM:.*]] = arith.sitofp %{{.*}} : i32 to f32
// CHECK: %[[QUOTIENT:.*]] = arith.mulf %[[SUM]], %[[FACTOR]]
// CHECK: math.roundeven %[[QUOTIENT]]
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf olt
// CHECK: arith.fptosi
// CHECK: arith.trunci %{{.*}} : i32 to i8

// Around the input stands its zero point.
// CHECK-LABEL: func.func private @convolve(
// CHECK: %[[ZERO:.*]] = tensor.extract %{{.*}}[] : tensor<i8>
// CHECK: linalg.fill ins(%[[ZERO]] : i8)
// CHECK: tensor.insert_slice
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [2, 3] : tensor<6xi8> into tensor<2x3xi8>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
// CHECK: tensor.collapse_shape

// CHECK-LABEL: func.func private @quantize(
// CHECK: arith.extf %{{.*}} fastmath<contract> : f16 to f32
// CHECK: arith.divf %{{.*}} : f32
// CHECK: math.roundeven
module attributes {ai.level = "kernels"} {
  func.func @main(%a: tensor<3x4xui8>, %b: tensor<4x5xi8>, %s: tensor<f32>, %z: tensor<5xi8>, %x: tensor<1x4x6x6xui8>, %w: tensor<6x2x3x3xi8>, %p: tensor<ui8>, %q: tensor<6xi8>, %h: tensor<9xf16>, %t: tensor<f16>)
      -> (tensor<3x5xi32>, tensor<3x5xi8>, tensor<1x6x6x6xi32>, tensor<9xui8>) {
    %0 = call @multiply(%a, %b) : (tensor<3x4xui8>, tensor<4x5xi8>) -> tensor<3x5xi32>
    %1 = call @qlinear(%a, %b, %s, %z) : (tensor<3x4xui8>, tensor<4x5xi8>, tensor<f32>, tensor<5xi8>) -> tensor<3x5xi8>
    %2 = call @convolve(%x, %w, %p, %q) : (tensor<1x4x6x6xui8>, tensor<6x2x3x3xi8>, tensor<ui8>, tensor<6xi8>) -> tensor<1x6x6x6xi32>
    %3 = call @quantize(%h, %t, %p) : (tensor<9xf16>, tensor<f16>, tensor<ui8>) -> tensor<9xui8>
    return %0, %1, %2, %3 : tensor<3x5xi32>, tensor<3x5xi8>, tensor<1x6x6x6xi32>, tensor<9xui8>
  }
  func.func private @multiply(%a: tensor<3x4xui8>, %b: tensor<4x5xi8>) -> tensor<3x5xi32> attributes {ai.kernel, ai.ops = ["ai.matmul_integer"]} {
    %z = arith.constant dense<200> : tensor<ui8>
    %n = arith.constant dense<0> : tensor<i8>
    %0 = "ai.matmul_integer"(%a, %b, %z, %n) : (tensor<3x4xui8>, tensor<4x5xi8>, tensor<ui8>, tensor<i8>) -> tensor<3x5xi32>
    return %0 : tensor<3x5xi32>
  }
  func.func private @qlinear(%a: tensor<3x4xui8>, %b: tensor<4x5xi8>, %s: tensor<f32>, %z: tensor<5xi8>) -> tensor<3x5xi8> attributes {ai.kernel, ai.ops = ["ai.qlinear_matmul"]} {
    %n = arith.constant dense<3> : tensor<ui8>
    %y = arith.constant dense<-7> : tensor<i8>
    %0 = "ai.qlinear_matmul"(%a, %s, %n, %b, %s, %z, %s, %y) : (tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<4x5xi8>, tensor<f32>, tensor<5xi8>, tensor<f32>, tensor<i8>) -> tensor<3x5xi8>
    return %0 : tensor<3x5xi8>
  }
  func.func private @convolve(%x: tensor<1x4x6x6xui8>, %w: tensor<6x2x3x3xi8>, %p: tensor<ui8>, %q: tensor<6xi8>) -> tensor<1x6x6x6xi32> attributes {ai.kernel, ai.ops = ["ai.conv_integer"]} {
    %0 = "ai.conv_integer"(%x, %w, %p, %q) {dilations = array<i64: 1, 1>, group = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x4x6x6xui8>, tensor<6x2x3x3xi8>, tensor<ui8>, tensor<6xi8>) -> tensor<1x6x6x6xi32>
    return %0 : tensor<1x6x6x6xi32>
  }
  func.func private @quantize(%h: tensor<9xf16>, %t: tensor<f16>, %p: tensor<ui8>) -> tensor<9xui8> attributes {ai.kernel, ai.ops = ["ai.quantize_linear"]} {
    %0 = "ai.quantize_linear"(%h, %t, %p) : (tensor<9xf16>, tensor<f16>, tensor<ui8>) -> tensor<9xui8>
    return %0 : tensor<9xui8>
  }
}
