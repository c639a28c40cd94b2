// RUN: not aiopt -p cpu-emit-entry %s 2>&1 | filecheck %s
// CHECK: error: cpu-emit-entry: the module has no function @main in the llvm dialect
module attributes {ai.level = "cpu", ai.net = "net"} {
  llvm.func @kernel(%y: !llvm.ptr) {
    llvm.return
  }
}
