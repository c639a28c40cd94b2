// RUN: aiopt -p 'convert-ai-to-linalg,canonicalize,cse' %s | filecheck %s
// RUN: aiopt -p 'convert-ai-to-linalg,ai-loops-pipeline' %s | filecheck %s --check-prefix=LOOPS
// RUN: sed -e 's/keys = 16/keys = 8/' %s | aiopt -p 'convert-ai-to-linalg,canonicalize,cse' | filecheck %s --check-prefix=BLOCKS
// RUN: sed -e 's/{axis = 3 : i64}/{axis = 2 : i64}/' %s | not aiopt -p convert-ai-to-linalg 2>&1 | filecheck %s --check-prefix=COVER
// RUN: sed -e 's/ai.route = "template", ai.template = {.*}, //' %s | aiopt -p 'convert-ai-to-linalg,ai-loops-pipeline' | filecheck %s --check-prefix=STRUCTURED

// 6 queries and 16 keys of 8 elements, 2 heads: a task has the queries of a head, in tiles of 3. Keys are turned and
// values copied once; of scores there are the three rows of a tile.
// CHECK-LABEL: func.func private @attention(
// CHECK: scf.forall (%{{.*}}) in (2) {
// CHECK-DAG: memref.alloc() : memref<48xf32>
// CHECK-DAG: memref.alloc() : memref<6xf32>
// CHECK-DAG: memref.alloc() : memref<128xf32>
// Keys, turned in squares of 4 x 4; values.
// CHECK: vector.load %{{.*}} : memref<256xf32>, vector<4xf32>
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}} : memref<128xf32>, vector<4xf32>
// CHECK: vector.store %{{.*}} : memref<128xf32>, vector<8xf32>
// Scores of 3 queries and 8 keys, with what is done to them.
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: vector.fma
// CHECK: arith.mulf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: arith.select %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK: vector.store %{{.*}} : memref<48xf32>, vector<8xf32>
// Softmax: the largest score of a row, then powers and their sum.
// CHECK: scf.for {{.*}} -> (vector<4xf32>)
// CHECK: arith.cmpf ogt
// CHECK: scf.for {{.*}} -> (vector<4xf32>)
// CHECK: arith.subf
// CHECK: memref.store %{{.*}} : memref<6xf32>
// Their products with the values, over the sum, go to where the heads are merged.
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: memref.load %{{.*}} : memref<6xf32>
// CHECK: vector.store %{{.*}} : memref<96xf32>, vector<8xf32>
// CHECK-NOT: linalg

// In two blocks of 8 keys: the largest scores and the sums of rows are kept from one to the next.
// BLOCKS: scf.forall
// BLOCKS: memref.alloc() : memref<6xf32>
// BLOCKS: memref.alloc() : memref<6xf32>
// BLOCKS: memref.alloc() : memref<48xf32>
// BLOCKS: memref.alloc() : memref<6xf32>
// BLOCKS: scf.for %[[START:.*]] = %c0 to %c16 step %c8
// BLOCKS: arith.cmpi eq, %[[START]], %c0 : index
// BLOCKS: arith.cmpi eq, %[[START]], %c8 : index

// LOOPS: ai.level = "loops"
// LOOPS-LABEL: func.func private @attention(
// LOOPS: memref.alloca
// LOOPS: vector.fma

// COVER: error: the template 'attention' does not cover @attention: run ai-select-route, ai-pack-weights

// STRUCTURED-LABEL: func.func private @attention(
// STRUCTURED-NOT: vector.shuffle
// STRUCTURED: math.exp
module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%q: tensor<1x6x2x8xf32> {ai.name = "q"}, %k: tensor<1x16x2x8xf32> {ai.name = "k"}, %v: tensor<1x16x2x8xf32> {ai.name = "v"}, %seen: tensor<1x1x6x16xi1> {ai.name = "seen"}) -> (tensor<1x6x2x8xf32> {ai.name = "y"}) {
    %0 = call @attention(%q, %k, %v, %seen) {ai.nodes = []} : (tensor<1x6x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x1x6x16xi1>) -> tensor<1x6x2x8xf32>
    return %0 : tensor<1x6x2x8xf32>
  }
  func.func private @attention(%q: tensor<1x6x2x8xf32>, %k: tensor<1x16x2x8xf32>, %v: tensor<1x16x2x8xf32>, %seen: tensor<1x1x6x16xi1>) -> tensor<1x6x2x8xf32> attributes {ai.kernel, ai.ops = ["ai.matmul", "ai.softmax", "ai.matmul"], ai.route = "template", ai.template = {columns = 8 : i64, copy = 1 : i64, fma = 1 : i64, keys = 16 : i64, lanes = 4 : i64, mr = 3 : i64, name = "attention", nr = 8 : i64, tiles = 2 : i64}, ai.target = "cpu"} {
    %two = arith.constant dense<2.0> : tensor<f32>
    %lowest = arith.constant dense<0xFF800000> : tensor<f32>
    %0 = "ai.transpose"(%q) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x6x2x8xf32>) -> tensor<1x2x6x8xf32>
    %1 = "ai.transpose"(%k) {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x16x2x8xf32>) -> tensor<1x2x8x16xf32>
    %2 = "ai.matmul"(%0, %1) {acc = f32} : (tensor<1x2x6x8xf32>, tensor<1x2x8x16xf32>) -> tensor<1x2x6x16xf32>
    %3 = "ai.div"(%2, %two) : (tensor<1x2x6x16xf32>, tensor<f32>) -> tensor<1x2x6x16xf32>
    %4 = "ai.select"(%seen, %3, %lowest) : (tensor<1x1x6x16xi1>, tensor<1x2x6x16xf32>, tensor<f32>) -> tensor<1x2x6x16xf32>
    %5 = "ai.softmax"(%4) {axis = 3 : i64} : (tensor<1x2x6x16xf32>) -> tensor<1x2x6x16xf32>
    %6 = "ai.transpose"(%v) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x16x2x8xf32>) -> tensor<1x2x16x8xf32>
    %7 = "ai.matmul"(%5, %6) {acc = f32} : (tensor<1x2x6x16xf32>, tensor<1x2x16x8xf32>) -> tensor<1x2x6x8xf32>
    %8 = "ai.transpose"(%7) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x2x6x8xf32>) -> tensor<1x6x2x8xf32>
    return %8 : tensor<1x6x2x8xf32>
  }
}
