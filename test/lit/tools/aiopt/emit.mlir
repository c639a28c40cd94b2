// Code of each kind, from the graph level and from where a pipeline left off; -o and a pipe, not a terminal, take it.
// RUN: aiopt %s --emit=llvm | filecheck %s --check-prefix=LLVM
// RUN: aiopt %s --emit=asm | filecheck %s --check-prefix=ASM
// RUN: aiopt %s --emit=obj -o %t.o
// RUN: llvm-nm %t.o | filecheck %s --check-prefix=OBJ
// RUN: aiopt %s -p ai-graph-pipeline --emit=obj | llvm-nm - | filecheck %s --check-prefix=OBJ
// RUN: echo 'func.func @f() {return}' | not aiopt --emit=llvm 2>&1 | filecheck %s --check-prefix=LEVEL

// LLVM: define {{.*}}i32 @aiopt_small_run(ptr
// ASM: aiopt_small_run:
// OBJ: {{[DRT]}} aiopt_small_info
// OBJ: T aiopt_small_run
// LEVEL: {{^}}error: the module has no function @main, so there is nothing to run
module attributes {ai.level = "graph", ai.net = "small"} {
  func.func @main(%x: tensor<2x3xf32> {ai.name = "x"}) -> (tensor<2x3xf32> {ai.name = "y"}) {
    %y = "ai.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
}
