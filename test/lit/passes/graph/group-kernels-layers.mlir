// RUN: aiopt -p 'ai-group-kernels{fusion=max vector-bits=256 cores=1}' %s | filecheck %s
// RUN: aiopt -p 'ai-group-kernels{fusion=max vector-bits=256 cores=1}' --remarks-filter='.*' %s 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: aiopt -p 'ai-group-kernels{fusion=max vector-bits=256 l2-bytes=500}' --remarks-filter='.*' %s 2>&1 | filecheck %s --check-prefix=SMALL
// RUN: aiopt -p 'ai-group-kernels{fusion=auto vector-bits=256}' --remarks-filter='.*' %s 2>&1 | filecheck %s --check-prefix=AUTO
// RUN: aiopt -p ai-group-kernels %s | filecheck %s --check-prefix=OFF
// RUN: aiopt -p 'ai-group-kernels{fusion=max vector-bits=256 cores=1},ai-outline-kernels,ai-select-route{vector-bits=256 fma=true}' %s | filecheck %s --check-prefix=ROUTE
// RUN: not aiopt -p 'ai-group-kernels{fusion=all}' %s 2>&1 | filecheck %s --check-prefix=WORD
// RUN: not aiopt -p 'ai-kernels-pipeline{fusion=all}' %s 2>&1 | filecheck %s --check-prefix=WORD
// RUN: not aiopt -p 'ai-group-kernels{fusion=max cores=0}' %s 2>&1 | filecheck %s --check-prefix=CORES
// RUN: not aiopt -p 'ai-group-kernels{fusion=max vector-bits=96}' %s 2>&1 | filecheck %s --check-prefix=BITS
// RUN: not aiopt -p 'ai-group-kernels{fusion=max vector-bits=384}' %s 2>&1 | filecheck %s --check-prefix=POWER
// CORES: error: a machine's cores must be 1 or more, not 0
// BITS: error: a machine's vector-bits must be 128 or more, not 96
// POWER: error: a machine's vector-bits must be a power of two, not 384
// WORD: error: ai-group-kernels: option 'fusion' must be one of auto, max, off, not 'all'
// REMARK-DAG: fused the layers One and Two in bands of 8 rows
// SMALL-DAG: did not fuse One and Two: {{[0-9]+}} bytes between them exceed the cache of 500
// AUTO-DAG: did not fuse One and Two: what is between them stays in the cache
module attributes {ai.level = "graph", ai.net = "net"} {
  // CHECK: "ai.conv"({{.*}}ai.group = 0 : i64
  // CHECK: "ai.relu"({{.*}}ai.group = 0 : i64
  // CHECK: "ai.conv"({{.*}}ai.group = 0 : i64
  // OFF: "ai.relu"({{.*}}ai.group = 0 : i64
  // OFF: "ai.conv"({{.*}}ai.group = 1 : i64
  // ROUTE: ai.route = "template", ai.stages = [
  // ROUTE-SAME: name = "matmul"
  // ROUTE-SAME: ai.template = {name = "bands", rows = 8 : i64, tasks = 1 : i64}
  func.func @main(%x: tensor<1x8x8x16xf32> {ai.name = "x"}) -> (tensor<1x8x8x16xf32> {ai.name = "y"}) {
    %v = arith.constant dense<0.5> : tensor<16x16x1x1xf32>
    %w = arith.constant dense<0.25> : tensor<16x16x3x3xf32>
    %0 = "ai.conv"(%x, %v) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x8x8x16xf32> loc("One")
    %1 = "ai.relu"(%0) : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> loc("One")
    %2 = "ai.conv"(%1, %w) {acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, layout = "channels_last", operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x8x8x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x8x8x16xf32> loc("Two")
    return %2 : tensor<1x8x8x16xf32>
  }
}
