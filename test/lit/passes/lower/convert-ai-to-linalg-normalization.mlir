// RUN: aiopt -p convert-ai-to-linalg %s | filecheck %s
// RUN: sed 's/axis = 1/axis = 2/' %s > %t.mlir
// RUN: not aiopt -p convert-ai-to-linalg %t.mlir 2>&1 | filecheck %s --check-prefix=AXIS

// Two folds (kept in f64) and the pass over the elements; the folded axis stays whole in every tile.
// CHECK-LABEL: func.func private @layer_norm(
// CHECK-SAME: ai.whole_axes = array<i64: 1>
// CHECK: iterator_types = ["parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<40xf64>)
// CHECK: arith.subf
// CHECK: iterator_types = ["parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<40xf64>)
// CHECK: math.sqrt
// CHECK: arith.divf
// CHECK: arith.mulf
// CHECK: arith.addf

// AXIS: error: {{.*}}ai.layer_norm

func.func private @layer_norm(%x: tensor<40x12xf32>, %p: tensor<12xf32>) -> tensor<40x12xf32> attributes {ai.kernel, ai.ops = []} {
  %0 = "ai.layer_norm"(%x, %p, %p) {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<40x12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<40x12xf32>
  return %0 : tensor<40x12xf32>
}
