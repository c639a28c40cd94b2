// RUN: aiopt -p 'convert-ai-to-linalg,canonicalize,cse' %s | filecheck %s
// RUN: aiopt -p 'convert-ai-to-linalg,ai-loops-pipeline' %s | filecheck %s --check-prefix=LOOPS
// RUN: sed -e 's/ahead = 0/ahead = 1/' %s | aiopt -p 'convert-ai-to-linalg,canonicalize,cse' | filecheck %s --check-prefix=AHEAD
// RUN: sed -e 's/ai.template = {/ai.other = {/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=CHOICE
// RUN: sed -e 's/name = "matmul"/name = "conv"/; s/kc = 5 : i64, //; s/panels = 2 : i64, tiles = 2/order = 0 : i64, rows = 1/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=COVER
// RUN: sed -e 's/ nr = 16/ nr = 8/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=PACK

// 7 x 5 times 5 x 20, in tiles of 2 x 16: rows left over and columns left over are tiles of their own. The epilogue works
// on the accumulators.
// CHECK-LABEL: func.func private @matmul_relu(
// CHECK-SAME: %{{.*}}: memref<7x5xf32>, %{{.*}}: memref<2x5x16xf32>, %{{.*}}: memref<20xf32>, %{{.*}}: memref<7x20xf32>)
// CHECK-SAME: ai.route = "template"
// CHECK: scf.forall (%{{.*}}) in (2) {
// CHECK: scf.for %{{.*}} step %c2
// CHECK: scf.for %[[K:.*]] = %c0 to %c5 step %c1 iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (vector<16xf32>, vector<16xf32>)
// CHECK: %[[W:.*]] = vector.load %{{.*}} : memref<160xf32>, vector<16xf32>
// CHECK: %[[E:.*]] = memref.load %{{.*}} : memref<35xf32>
// CHECK: %[[V:.*]] = vector.broadcast %[[E]] : f32 to vector<16xf32>
// CHECK: vector.fma %[[V]], %[[W]], %[[A]] : vector<16xf32>
// CHECK: } {llvm.loop_annotation = #[[LOOP:.*]]}
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: vector.store %{{.*}} : memref<140xf32>, vector<16xf32>
// The last of 7 rows, in the second task.
// CHECK: scf.for %{{.*}} step %c1
// CHECK: scf.for {{.*}} -> (vector<16xf32>)
// The last 4 of 20 columns.
// CHECK: scf.for %{{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>)
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
// CHECK: vector.store %{{.*}} : memref<140xf32>, vector<4xf32>

// A pointwise convolution with channels first: filters are rows, each with its bias, and the pixels of an image columns.
// CHECK-LABEL: func.func private @conv(
// CHECK-SAME: %{{.*}}: memref<2x5x3x4xf32>, %{{.*}}: memref<4x5x1x1xf32>, %{{.*}}: memref<4xf32>, %{{.*}}: memref<2x4x3x4xf32>)
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (2, 2) {
// CHECK: memref.load %{{.*}} : memref<4xf32>
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>)
// CHECK: %[[P:.*]] = vector.load %{{.*}} : memref<120xf32>, vector<8xf32>
// CHECK: memref.load %{{.*}} : memref<20xf32>
// CHECK: vector.fma %{{.*}}, %[[P]], %{{.*}} : vector<8xf32>
// CHECK: vector.store %{{.*}} : memref<96xf32>, vector<8xf32>
// CHECK: vector.store %{{.*}} : memref<96xf32>, vector<4xf32>
// CHECK-NOT: linalg

// Each step of the sums fetches the line of the next panel that the same step will read; a matrix that is not packed has none.
// AHEAD-LABEL: func.func private @matmul_relu(
// AHEAD: vector.load %{{.*}} : memref<160xf32>, vector<16xf32>
// AHEAD: memref.prefetch %{{.*}}, read, locality<2>, data : memref<160xf32>
// AHEAD: vector.fma
// AHEAD-LABEL: func.func private @conv(
// AHEAD-NOT: memref.prefetch

// LOOPS: ai.level = "loops"
// LOOPS-LABEL: func.func private @matmul_relu(
// LOOPS: scf.forall
// LOOPS: vector.fma

// CHOICE: error: @matmul_relu takes the template route, but has no ai.template
// COVER: error: the template 'conv' does not cover @matmul_relu: run ai-select-route, ai-pack-weights
// PACK: error: @matmul_relu: nr is 8, but the weight is packed by 16

module attributes {ai.level = "kernels"} {
  func.func @main(%a: tensor<7x5xf32> {ai.name = "a"}, %b: tensor<2x5x16xf32> {ai.name = "b"}, %c: tensor<20xf32> {ai.name = "c"}, %x: tensor<2x5x3x4xf32> {ai.name = "x"}, %v: tensor<4x5x1x1xf32> {ai.name = "v"}, %d: tensor<4xf32> {ai.name = "d"}) -> (tensor<7x20xf32> {ai.name = "y"}, tensor<2x4x3x4xf32> {ai.name = "z"}) {
    %0 = call @matmul_relu(%a, %b, %c) : (tensor<7x5xf32>, tensor<2x5x16xf32>, tensor<20xf32>) -> tensor<7x20xf32>
    %1 = call @conv(%x, %v, %d) : (tensor<2x5x3x4xf32>, tensor<4x5x1x1xf32>, tensor<4xf32>) -> tensor<2x4x3x4xf32>
    return %0, %1 : tensor<7x20xf32>, tensor<2x4x3x4xf32>
  }
  func.func private @matmul_relu(%a: tensor<7x5xf32>, %b: tensor<2x5x16xf32>, %c: tensor<20xf32>) -> tensor<7x20xf32> attributes {ai.kernel, ai.ops = ["ai.matmul", "ai.add", "ai.relu"], ai.route = "template", ai.template = {ahead = 0 : i64, dot = 0 : i64, fma = 1 : i64, kc = 5 : i64, lanes = 8 : i64, mr = 2 : i64, name = "matmul", nr = 16 : i64, panels = 2 : i64, tiles = 2 : i64}} {
    %0 = "ai.matmul"(%a, %b) {acc = f32, columns = 20 : i64, pack = 16 : i64} : (tensor<7x5xf32>, tensor<2x5x16xf32>) -> tensor<7x20xf32>
    %1 = "ai.add"(%0, %c) : (tensor<7x20xf32>, tensor<20xf32>) -> tensor<7x20xf32>
    %2 = "ai.relu"(%1) : (tensor<7x20xf32>) -> tensor<7x20xf32>
    return %2 : tensor<7x20xf32>
  }  func.func private @conv(%x: tensor<2x5x3x4xf32>, %w: tensor<4x5x1x1xf32>, %b: tensor<4xf32>) -> tensor<2x4x3x4xf32> attributes {ai.kernel, ai.ops = ["ai.conv"], ai.route = "template", ai.template = {ahead = 0 : i64, dot = 0 : i64, fma = 1 : i64, kc = 5 : i64, lanes = 8 : i64, mr = 2 : i64, name = "matmul", nr = 8 : i64, panels = 2 : i64, tiles = 1 : i64}} {
    %0 = "ai.conv"(%x, %w, %b) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x5x3x4xf32>, tensor<4x5x1x1xf32>, tensor<4xf32>) -> tensor<2x4x3x4xf32>
    return %0 : tensor<2x4x3x4xf32>
  }
}
