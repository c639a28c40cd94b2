// RUN: aiopt -p 'convert-ai-to-linalg,canonicalize,cse' %s | filecheck %s
// RUN: aiopt -p 'ai-select-route{vector-bits=256}' %s | filecheck %s --check-prefix=ROUTE
// RUN: sed -e 's/name = "pool"/name = "depthwise"/; s/lanes = 8/fma = 1 : i64, lanes = 8/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=COVER

// A row of the window at a time: two windows share one of the 5 pixels they see, of which the first row of windows does
// not see what lies on padding. What follows works on the registers.
// CHECK-LABEL: func.func private @max_pool_relu(
// CHECK: scf.forall (%{{.*}}) in (4) {
// CHECK: arith.maxsi
// CHECK: scf.for %{{.*}} iter_args({{.*}} = %[[LOWEST:cst.*]], {{.*}} = %[[LOWEST]]) -> (vector<8xf32>, vector<8xf32>) {
// CHECK-COUNT-5: vector.load %{{.*}} : memref<{{.*}}xf32>, vector<8xf32>
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK: arith.maximumf
// CHECK: vector.store
// CHECK-NOT: linalg

// A mean of those inside the image: its number of rows is known when the row of the result is.
// CHECK-LABEL: func.func private @avg_pool(
// CHECK: scf.for
// CHECK: arith.addf
// CHECK: scf.yield
// CHECK: arith.sitofp
// CHECK: arith.divf
// CHECK-NOT: linalg
// CHECK-LABEL: func.func private @first(

// ROUTE: func.func private @max_pool_relu({{.*}} ai.route = "template"
// ROUTE: func.func private @avg_pool({{.*}} ai.route = "template"
// ROUTE: func.func private @first({{.*}} ai.route = "structured"

// COVER: error: the template 'depthwise' does not cover @max_pool_relu: run ai-select-route, ai-pack-weights

module attributes {ai.level = "kernels"} {
  func.func @main(%x: tensor<1x7x7x8xf32> {ai.name = "x"}, %p: tensor<1x8x7x7xf32> {ai.name = "p"}) -> (tensor<1x4x4x8xf32> {ai.name = "y"}, tensor<1x7x7x8xf32> {ai.name = "z"}, tensor<1x8x6x6xf32> {ai.name = "w"}) {
    %0 = call @max_pool_relu(%x) : (tensor<1x7x7x8xf32>) -> tensor<1x4x4x8xf32>
    %1 = call @avg_pool(%x) : (tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32>
    %2 = call @first(%p) : (tensor<1x8x7x7xf32>) -> tensor<1x8x6x6xf32>
    return %0, %1, %2 : tensor<1x4x4x8xf32>, tensor<1x7x7x8xf32>, tensor<1x8x6x6xf32>
  }
  func.func private @max_pool_relu(%x: tensor<1x7x7x8xf32>) -> tensor<1x4x4x8xf32> attributes {ai.kernel, ai.ops = ["ai.max_pool", "ai.relu"], ai.route = "template", ai.template = {lanes = 8 : i64, mr = 2 : i64, name = "pool", nr = 8 : i64, order = 2 : i64, rows = 1 : i64}} {
    %0 = "ai.max_pool"(%x) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, layout = "channels_last", pads = array<i64: 1, 0, 1, 2>, strides = array<i64: 2, 2>} : (tensor<1x7x7x8xf32>) -> tensor<1x4x4x8xf32>
    %1 = "ai.relu"(%0) : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    return %1 : tensor<1x4x4x8xf32>
  }
  func.func private @avg_pool(%x: tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32> attributes {ai.kernel, ai.ops = ["ai.avg_pool"], ai.route = "template", ai.template = {lanes = 8 : i64, mr = 4 : i64, name = "pool", nr = 8 : i64, order = 2 : i64, rows = 7 : i64}} {
    %0 = "ai.avg_pool"(%x) {count_include_pad = false, kernel = array<i64: 3, 3>, layout = "channels_last", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32>
    return %0 : tensor<1x7x7x8xf32>
  }
  func.func private @first(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x6x6xf32> attributes {ai.kernel, ai.ops = ["ai.max_pool"]} {
    %0 = "ai.max_pool"(%x) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x7x7xf32>) -> tensor<1x8x6x6xf32>
    return %0 : tensor<1x8x6x6xf32>
  }
}
