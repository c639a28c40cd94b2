// RUN: aiopt -p cpu-emit-entry %s | filecheck %s
// RUN: not aiopt -p 'cpu-emit-entry{threads=2}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: cpu-emit-entry has no option 'threads' (it has none)

// CHECK: ai.level = "llvm"
module attributes {ai.level = "cpu", ai.net = "net", ai.arena_bytes = 0 : i64, ai.weights_bytes = 0 : i64} {
  llvm.mlir.global constant @aiopt_net_info(0 : i32) : i32
  // @main and the kernels that launch take the context, the others do not; only the entry is visible.
  // CHECK: llvm.func internal @aiopt_net_main(
  // CHECK-SAME: %[[CTX:[a-z0-9]+]]: !llvm.ptr) attributes {no_inline}
  // Each launch stands between two calls of the hook, with its number.
  // CHECK: %[[FIRST:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK-NEXT: %[[BEFORE:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK-NEXT: llvm.call @aiopt_net_hook(%[[CTX]], %[[FIRST]], %[[BEFORE]])
  // CHECK-NEXT: llvm.call @parallel(%arg0, %arg1, %[[CTX]]) {ai.nodes = ["a"]}
  // CHECK: %[[AFTER:.*]] = llvm.mlir.constant(1 : i32) : i32
  // CHECK-NEXT: llvm.call @aiopt_net_hook(%[[CTX]], %{{.*}}, %[[AFTER]])
  // CHECK: %[[SECOND:.*]] = llvm.mlir.constant(1 : i32) : i32
  // CHECK: llvm.call @aiopt_net_hook(%[[CTX]], %[[SECOND]],
  // CHECK-NEXT: llvm.call @serial(%arg1) : (!llvm.ptr) -> ()
  // CHECK: llvm.call @aiopt_net_hook(%[[CTX]],
  llvm.func @main(%x: !llvm.ptr {ai.name = "x"}, %y: !llvm.ptr {ai.name = "y", ai.output}, %w: !llvm.ptr, %a: !llvm.ptr) {
    llvm.call @parallel(%x, %y) {ai.nodes = ["a"]} : (!llvm.ptr, !llvm.ptr) -> ()
    llvm.call @serial(%y) : (!llvm.ptr) -> ()
    llvm.return
  }
  // CHECK: llvm.func internal @task(
  llvm.func @task(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, %begin: i64, %end: i64) {
    llvm.return
  }
  // CHECK: llvm.func internal @parallel(%{{[a-z0-9]+}}: !llvm.ptr {llvm.noalias}
  // CHECK: llvm.call @task.launch(%arg0, %arg1, %{{.*}}, %{{.*}}, %arg2)
  llvm.func @parallel(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}) {
    %c0 = llvm.mlir.constant(0 : index) : i64
    %c8 = llvm.mlir.constant(8 : index) : i64
    llvm.call @task(%x, %y, %c0, %c8) {ai.parallel = 4 : i64} : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
    llvm.return
  }
  // CHECK: llvm.func internal @serial(%{{[a-z0-9]+}}: !llvm.ptr) attributes
  llvm.func @serial(%y: !llvm.ptr) {
    llvm.return
  }
}
// CHECK: llvm.func internal @task.range(%{{.*}}: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK: llvm.call @task(%{{.*}}, %{{.*}}, %[[BEGIN]], %[[END]])
// CHECK: llvm.func internal @task.launch(
// CHECK: llvm.alloca
// CHECK: llvm.mlir.addressof @task.range
// CHECK: llvm.getelementptr inbounds %{{.*}}[0, 4]
// CHECK: %[[WIDTH:.*]] = llvm.mlir.constant(4 : i64) : i64
// CHECK: llvm.call %{{.*}}, %[[WIDTH]]) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
// CHECK: llvm.func internal @aiopt_net_hook(
// CHECK-SAME: attributes {always_inline}
// CHECK: llvm.getelementptr inbounds %{{.*}}[0, 5]
// CHECK: llvm.cond_br
// CHECK: llvm.getelementptr inbounds %{{.*}}[0, 6]
// CHECK: llvm.func @aiopt_net_run(%[[C:[a-z0-9]+]]: !llvm.ptr, %[[IN:[a-z0-9]+]]: !llvm.ptr, %[[OUT:[a-z0-9]+]]: !llvm.ptr) -> i32
// CHECK: llvm.load %[[C]] : !llvm.ptr -> i32
// CHECK: llvm.getelementptr inbounds %[[IN]][0]
// CHECK: llvm.getelementptr inbounds %[[OUT]][0]
// CHECK: llvm.call @aiopt_net_main(
