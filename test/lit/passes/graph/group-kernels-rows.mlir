// RUN: aiopt -p 'ai-group-kernels{fusion=max vector-bits=256 cores=1}' %s | filecheck %s
// RUN: aiopt -p 'ai-group-kernels{fusion=max vector-bits=256 cores=1}' --remarks-filter='.*' %s 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: aiopt -p 'ai-group-kernels{fusion=auto vector-bits=256 cores=1}' --remarks-filter='.*' %s 2>&1 | filecheck %s --check-prefix=AUTO
// RUN: aiopt -p 'ai-group-kernels{fusion=auto vector-bits=256 cores=2 l2-bytes=131072}' --remarks-filter='.*' %s 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: aiopt -p 'ai-group-kernels{fusion=auto vector-bits=256 cores=7}' --remarks-filter='.*' %s 2>&1 | filecheck %s --check-prefix=UNEVEN
// RUN: aiopt -p 'ai-group-kernels{fusion=auto vector-bits=256 cores=32}' --remarks-filter='.*' %s 2>&1 | filecheck %s --check-prefix=BUSY
// RUN: aiopt -p ai-group-kernels %s | filecheck %s --check-prefix=OFF
// RUN: aiopt -p 'ai-group-kernels{fusion=max vector-bits=256 cores=1},ai-outline-kernels,ai-select-route{vector-bits=256 fma=true}' %s | filecheck %s --check-prefix=ROUTE
// REMARK-DAG: fused the layers Product and Norm in bands of 24 rows
// REMARK-DAG: did not fuse Stream and Read: 1 other ops read what is between them
// AUTO-DAG: fused the layers Product and Norm in bands of 24 rows
// AGAIN-DAG: did not fuse Product and Norm: 10486 cycles of weights read again or cores without a band outweigh the 4000 of a launch
// UNEVEN-DAG: did not fuse Product and Norm: {{[0-9]+}} cycles of weights read again or cores without a band outweigh the 4000 of a launch
// BUSY-DAG: did not fuse Product and Norm: it would keep {{[0-9]+}} of 32 cores busy
module attributes {ai.level = "graph", ai.net = "net"} {
  // CHECK-LABEL: @main
  // CHECK: "ai.matmul"({{.*}}ai.group = 0 : i64
  // CHECK: "ai.add"({{.*}}ai.group = 0 : i64
  // CHECK: "ai.layer_norm"({{.*}}ai.group = 0 : i64
  // CHECK: "ai.matmul"({{.*}}ai.group = 1 : i64
  // CHECK: "ai.layer_norm"({{.*}}ai.group = 2 : i64
  // CHECK: "ai.add"({{.*}}ai.group = 3 : i64
  // OFF-LABEL: @main
  // OFF: "ai.add"({{.*}}ai.group = 0 : i64
  // OFF: "ai.layer_norm"({{.*}}ai.group = 1 : i64
  // ROUTE: func.func private @matmul_add_layer_norm
  // ROUTE-SAME: ai.route = "template", ai.stages = [
  // ROUTE-SAME: name = "matmul"
  // ROUTE-SAME: name = "rows"
  // ROUTE-SAME: ai.template = {name = "bands", rows = 24 : i64, tasks = 1 : i64}
  func.func @main(%x: tensor<24x256xf32> {ai.name = "x"}) -> (tensor<24x256xf32> {ai.name = "y"}) {
    %w = arith.constant dense<0.5> : tensor<256x256xf32>
    %s = arith.constant dense<2.0> : tensor<256xf32>
    %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<24x256xf32>, tensor<256x256xf32>) -> tensor<24x256xf32> loc("Product")
    %1 = "ai.add"(%0, %x) : (tensor<24x256xf32>, tensor<24x256xf32>) -> tensor<24x256xf32> loc("Product")
    %2 = "ai.layer_norm"(%1, %s) {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<24x256xf32>, tensor<256xf32>) -> tensor<24x256xf32> loc("Norm")
    %3 = "ai.matmul"(%2, %w) {acc = f32} : (tensor<24x256xf32>, tensor<256x256xf32>) -> tensor<24x256xf32> loc("Stream")
    %4 = "ai.layer_norm"(%3, %s) {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<24x256xf32>, tensor<256xf32>) -> tensor<24x256xf32> loc("Read")
    %5 = "ai.matmul"(%4, %w) {acc = f32} : (tensor<24x256xf32>, tensor<256x256xf32>) -> tensor<24x256xf32> loc("Last")
    %6 = "ai.add"(%3, %5) : (tensor<24x256xf32>, tensor<24x256xf32>) -> tensor<24x256xf32> loc("Sum")
    return %6 : tensor<24x256xf32>
  }
}
