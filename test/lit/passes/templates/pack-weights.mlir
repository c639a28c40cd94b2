// RUN: aiopt -p ai-pack-weights %s | filecheck %s
// RUN: not aiopt -p 'ai-pack-weights{nr=8}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: sed -e 's/kc = 2/kc = 0/' %s | not aiopt -p ai-pack-weights 2>&1 | filecheck %s --check-prefix=NUMBER
// RUN: sed -e 's/kc = 2 : i64, //' %s | not aiopt -p ai-pack-weights 2>&1 | filecheck %s --check-prefix=NUMBERS
// RUN: sed -e 's/name = "matmul"/name = "strassen"/' %s | not aiopt -p ai-pack-weights 2>&1 | filecheck %s --check-prefix=NAME

// A constant weight is packed for the calls that pass it; one that is computed, or goes down the structured route, is not.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<3x2xf32>
// CHECK: %[[W:.*]] = arith.constant dense<5.000000e-01> : tensor<2x3xf32>
// CHECK: %[[P:.*]] = "ai.constant"() {key = "packed"} : () -> tensor<1x2x8xf32>
// CHECK: call @matmul_packed(%[[X]], %[[P]])
// CHECK: call @matmul_computed(%[[X]], %{{.*}})
// CHECK: call @matmul_structured(%[[X]], %[[W]])
// CHECK: %[[F:.*]] = "ai.constant"() {key = "packed.1"} : () -> tensor<1x1x1x2x8xf32>
// CHECK: call @conv(%{{.*}}, %[[F]])

// CHECK-LABEL: func.func private @matmul_packed(
// CHECK-SAME: %{{.*}}: tensor<3x2xf32>, %{{.*}}: tensor<1x2x8xf32>) -> tensor<3x3xf32>
// CHECK: "ai.matmul"{{.*}} columns = 3 : i64, pack = 8 : i64
// CHECK-LABEL: func.func private @matmul_computed(
// CHECK-SAME: tensor<2x3xf32>)
// CHECK-LABEL: func.func private @matmul_structured(
// CHECK-SAME: tensor<2x3xf32>)
// CHECK-LABEL: func.func private @conv(
// CHECK: "ai.conv"{{.*}} filters = 3 : i64, {{.*}} pack = 8 : i64

// OPTION: error: ai-pack-weights has no option 'nr' (it has none)
// NAME: error: {{.*}}@matmul_packed: there is no template 'strassen' (there are: {{.*}}, matmul, {{.*}})
// NUMBER: error: @matmul_packed: kc of the template 'matmul' is 0
// NUMBERS: error: @matmul_packed: the template 'matmul' takes ahead, dot, fma, kc, lanes, mr, nr, panels, tiles, not ahead, dot, fma, lanes, mr, nr, panels, tiles

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<3x2xf32> {ai.name = "x"}, %i: tensor<1x2x2x2xf32> {ai.name = "i"}) -> (tensor<3x3xf32> {ai.name = "a"}, tensor<3x3xf32> {ai.name = "b"}, tensor<3x3xf32> {ai.name = "c"}, tensor<1x2x2x3xf32> {ai.name = "d"}) {
    %w = arith.constant dense<0.5> : tensor<2x3xf32>
    %f = arith.constant dense<0.25> : tensor<3x2x1x1xf32>
    %v = "ai.reshape"(%x) {shape = array<i64: 2, 3>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
    %0 = call @matmul_packed(%x, %w) : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
    %1 = call @matmul_computed(%x, %v) : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
    %2 = call @matmul_structured(%x, %w) : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
    %3 = call @conv(%i, %f) : (tensor<1x2x2x2xf32>, tensor<3x2x1x1xf32>) -> tensor<1x2x2x3xf32>
    return %0, %1, %2, %3 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<1x2x2x3xf32>
  }
  func.func private @matmul_packed(%a: tensor<3x2xf32>, %b: tensor<2x3xf32>) -> tensor<3x3xf32> attributes {ai.kernel, ai.ops = ["ai.matmul"], ai.route = "template", ai.template = {ahead = 0 : i64, dot = 0 : i64, fma = 1 : i64, kc = 2 : i64, lanes = 8 : i64, mr = 4 : i64, name = "matmul", nr = 8 : i64, panels = 1 : i64, tiles = 1 : i64}} {
    %0 = "ai.matmul"(%a, %b) {acc = f32} : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
    return %0 : tensor<3x3xf32>
  }
  func.func private @matmul_computed(%a: tensor<3x2xf32>, %b: tensor<2x3xf32>) -> tensor<3x3xf32> attributes {ai.kernel, ai.ops = ["ai.matmul"], ai.route = "template", ai.template = {ahead = 0 : i64, dot = 0 : i64, fma = 1 : i64, kc = 2 : i64, lanes = 8 : i64, mr = 4 : i64, name = "matmul", nr = 8 : i64, panels = 1 : i64, tiles = 1 : i64}} {
    %0 = "ai.matmul"(%a, %b) {acc = f32} : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
    return %0 : tensor<3x3xf32>
  }
  func.func private @matmul_structured(%a: tensor<3x2xf32>, %b: tensor<2x3xf32>) -> tensor<3x3xf32> attributes {ai.kernel, ai.ops = ["ai.matmul"], ai.route = "structured"} {
    %0 = "ai.matmul"(%a, %b) {acc = f32} : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
    return %0 : tensor<3x3xf32>
  }
  func.func private @conv(%x: tensor<1x2x2x2xf32>, %w: tensor<3x2x1x1xf32>) -> tensor<1x2x2x3xf32> attributes {ai.kernel, ai.ops = ["ai.conv"], ai.route = "template", ai.template = {ahead = 0 : i64, dot = 0 : i64, fma = 1 : i64, kc = 2 : i64, lanes = 8 : i64, mr = 4 : i64, name = "matmul", nr = 8 : i64, panels = 1 : i64, tiles = 1 : i64}} {
    %0 = "ai.conv"(%x, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<3x2x1x1xf32>) -> tensor<1x2x2x3xf32>
    return %0 : tensor<1x2x2x3xf32>
  }
}
