// RUN: aiopt -p 'ai-select-route{vector-bits=256},convert-ai-to-linalg,canonicalize,cse' %s | filecheck %s
// RUN: sed -e 's/ai.kernel,/ai.kernel, ai.route = "template", ai.template = {name = "transpose", tile = 0 : i64},/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=NUMBER

// Two by two squares of eight at a time.
// CHECK-LABEL: func.func private @transpose(
// CHECK: scf.forall (%{{.*}}) in (4) {
// CHECK: scf.for
// CHECK-COUNT-8: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK-COUNT-8: vector.store
// CHECK-NOT: linalg

// Three channels: their elements take turns.
// CHECK-LABEL: func.func private @relayout(
// CHECK: scf.forall (%{{.*}}) in (32) {
// CHECK-COUNT-3: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-3: vector.store

// Rows stay whole: no shuffles.
// CHECK-LABEL: func.func private @rows(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (12, 16) {
// CHECK: vector.load {{.*}} vector<32xf32>
// CHECK-NEXT: vector.store
// CHECK-NOT: vector.shuffle

// NUMBER: error: @transpose: tile of the template 'transpose' is 0

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<64x64xf32> {ai.name = "x"}) -> (tensor<64x64xf32> {ai.name = "y"}) {
    %0 = call @transpose(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
  func.func private @transpose(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {ai.kernel, ai.ops = ["ai.transpose"]} {
    %0 = "ai.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
  func.func private @relayout(%x: tensor<1x3x16x16xf32>) -> tensor<1x16x16x3xf32> attributes {ai.kernel, ai.ops = ["ai.relayout"]} {
    %0 = "ai.relayout"(%x) {to = "channels_last"} : (tensor<1x3x16x16xf32>) -> tensor<1x16x16x3xf32>
    return %0 : tensor<1x16x16x3xf32>
  }
  func.func private @rows(%x: tensor<16x12x32xf32>) -> tensor<12x16x32xf32> attributes {ai.kernel, ai.ops = ["ai.transpose"]} {
    %0 = "ai.transpose"(%x) {permutation = array<i64: 1, 0, 2>} : (tensor<16x12x32xf32>) -> tensor<12x16x32xf32>
    return %0 : tensor<12x16x32xf32>
  }
}
