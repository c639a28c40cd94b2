// RUN: aiopt -p cpu-annotate-loops %s | filecheck %s
// RUN: not aiopt -p 'cpu-annotate-loops{unroll=false}' %s 2>&1 | filecheck %s --check-prefix=OPTION

// CHECK: llvm.br ^bb1 {loop_annotation = #[[LOOP:.*]]}
// CHECK: llvm.cond_br %{{.*}}, ^bb1, ^bb2 {loop_annotation = #[[LOOP]]}
// CHECK: llvm.br ^bb3{{$}}

// OPTION: error: cpu-annotate-loops has no option 'unroll' (it has none)

#loop = #llvm.loop_annotation<unroll = <disable = true>>
module attributes {ai.level = "cpu"} {
  llvm.func @f(%c: i1) {
    llvm.br ^bb1 {llvm.loop_annotation = #loop}
  ^bb1:
    llvm.cond_br %c, ^bb1, ^bb2 {llvm.loop_annotation = #loop}
  ^bb2:
    llvm.br ^bb3
  ^bb3:
    llvm.return
  }
}
