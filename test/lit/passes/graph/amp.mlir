// RUN: aiopt -p 'ai-amp{type=bf16 gain=false}' %s | filecheck %s
// RUN: aiopt -p 'ai-amp{type=f16 bound=100 gain=false}' %s | filecheck %s --check-prefix=F16
// RUN: aiopt -p 'ai-amp{type=f16 bound=100000 gain=false}' %s | filecheck %s --check-prefix=WIDE
// RUN: aiopt -p 'ai-amp{type=bf16 deny=ai.matmul gain=false}' %s | filecheck %s --check-prefix=DENY
// RUN: aiopt -p 'ai-amp{type=bf16 allow=ai.softmax,Exp_0 gain=false}' %s | filecheck %s --check-prefix=ALLOW
// RUN: aiopt -p 'ai-amp{type=bf16}' %s | filecheck %s --check-prefix=GAIN
// RUN: aiopt -p 'ai-amp{type=bf16 allow=MatMul_0}' %s | filecheck %s --check-prefix=NODE
// RUN: not aiopt -p 'ai-amp{type=f32}' %s 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not aiopt -p 'ai-amp' %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not aiopt -p 'ai-amp{type=f16}' %s 2>&1 | filecheck %s --check-prefix=RANGE
// RUN: not aiopt -p 'ai-amp{type=bf16 deny=ai.matmull}' %s 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not aiopt -p 'ai-amp{type=f16 calibration=nowhere.npz}' %s 2>&1 | filecheck %s --check-prefix=FILE
// TYPE: error: ai-amp: option 'type' is bf16 or f16, not 'f32'
// NONE: error: ai-amp needs the option 'type'
// RANGE: error: ai-amp: f16 needs to know how large values get: give calibration inputs or a bound
// NAME: error: ai-amp: option 'deny' names 'ai.matmull', which is no op and no node
// FILE: error: cannot read calibration inputs from 'nowhere.npz'

module attributes {ai.level = "graph", ai.net = "net"} {
  // One cast of %x serves both products; the transpose moves what is low already; sums are f32, and so is all else.
  // CHECK: module attributes {ai.amp = {casts = 2 : i64, contractions = 2 : i64, low = 2 : i64, type = "bf16"}
  // CHECK: func.func @main(%[[X:.*]]: tensor<4x4xf32> {ai.name = "x"}) -> (tensor<4x4xf32> {{.*}}, tensor<4x4xf32> {{.*}})
  // CHECK: %[[SMALL:.*]] = "ai.cast"(%[[X]]) {to = bf16}
  // CHECK: %[[P:.*]] = "ai.matmul"(%[[SMALL]], %[[SMALL]]) {acc = f32, to = f32} : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  // CHECK: %[[H:.*]] = "ai.mul"(%[[P]], %{{.*}}) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  // CHECK: %[[S:.*]] = "ai.softmax"(%[[H]]) {{.*}} -> tensor<4x4xf32>
  // CHECK: %[[N:.*]] = "ai.cast"(%[[S]]) {to = bf16}
  // CHECK: %[[T:.*]] = "ai.transpose"(%[[N]]) {{.*}} -> tensor<4x4xbf16>
  // CHECK: %[[Q:.*]] = "ai.matmul"(%[[T]], %[[SMALL]]) {{.*}} -> tensor<4x4xf32>
  // CHECK: %[[R:.*]] = "ai.relu"(%[[Q]]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: %[[SUM:.*]] = "ai.add"(%[[R]], %[[X]]) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: %[[E:.*]] = "ai.exp"(%[[R]]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: return %[[SUM]], %[[E]]

  // F16: low = 2 : i64, type = "f16"
  // F16: "ai.matmul"{{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  // WIDE: casts = 0 : i64, contractions = 2 : i64, low = 0 : i64
  // WIDE-NOT: f16>
  // DENY: casts = 0 : i64, contractions = 2 : i64, low = 0 : i64
  // DENY-NOT: bf16>
  // ALLOW: "ai.softmax"{{.*}} -> tensor<4x4xbf16>
  // ALLOW: "ai.exp"{{.*}} -> tensor<4x4xbf16>
  // So small a product is not bound by arithmetic; who allows it is not asked.
  // GAIN: casts = 0 : i64, contractions = 2 : i64, low = 0 : i64
  // NODE: casts = 1 : i64, contractions = 2 : i64, low = 1 : i64
  func.func @main(%x: tensor<4x4xf32> {ai.name = "x"}) -> (tensor<4x4xf32> {ai.name = "y"}, tensor<4x4xf32> {ai.name = "z"}) {
    %half = arith.constant dense<5.000000e-01> : tensor<f32>
    %p = "ai.matmul"(%x, %x) {acc = f32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("MatMul_0")
    %h = "ai.mul"(%p, %half) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    %s = "ai.softmax"(%h) {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %t = "ai.transpose"(%s) {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %q = "ai.matmul"(%t, %x) {acc = f32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = "ai.relu"(%q) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %sum = "ai.add"(%r, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e = "ai.exp"(%r) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("Exp_0")
    return %sum, %e : tensor<4x4xf32>, tensor<4x4xf32>
  }
}
