// RUN: not aiopt -p cpu-emit-info %s 2>&1 | filecheck %s
// CHECK: error: the module attribute ai.net must be a C identifier, but is "my net"
module attributes {ai.level = "cpu", ai.net = "my net", ai.arena_bytes = 0 : i64, ai.weights_bytes = 0 : i64} {
  func.func @main(%y: memref<5xi64> {ai.name = "y", ai.output}, %weights: memref<64xi8>, %arena: memref<64xi8>) {
    return
  }
}
