// RUN: not aiopt -p cpu-emit-info %s 2>&1 | filecheck %s
// CHECK: error: cpu-emit-info: @main has no plan of its memory: run ai-plan-memory first
module attributes {ai.level = "cpu", ai.net = "net"} {
  func.func @main(%x: memref<5xi64> {ai.name = "x"}, %y: memref<5xi64> {ai.name = "y", ai.output}) {
    return
  }
}
