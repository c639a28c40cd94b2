// RUN: not aiopt -p cpu-emit-entry %s 2>&1 | filecheck %s
// CHECK: error: cpu-emit-entry: @main has no plan of its memory: run ai-plan-memory first
module attributes {ai.level = "cpu", ai.net = "net"} {
  llvm.func @main(%y: !llvm.ptr) {
    llvm.return
  }
}
