// Named pipelines are lists that can be read, and stand in pipelines as passes do; what is dumped is what was said.
// RUN: aiopt --show-pipeline=ai-kernels-pipeline | filecheck %s
// RUN: not aiopt --show-pipeline=ai-kernel-pipeline 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: aiopt %s -p 'builtin.module(ai-group-kernels{max-ops=4},func.func(ai-group-kernels,cse))' --dump-pass-pipeline -o /dev/null 2>&1 | filecheck %s --check-prefix=DUMP
// RUN: aiopt %s --ai-graph-pipeline --ai-group-kernels=max-ops=4 --cse --dump-pass-pipeline -o /dev/null 2>&1 | filecheck %s --check-prefix=FLAGS
// RUN: not aiopt %s --ai-group-kernels=ops=4 2>&1 | filecheck %s --check-prefix=OPTION

// CHECK: {{^}}ai-kernels-pipeline{{$}}
// CHECK-NEXT: {{^}}  ai-graph-pipeline{{$}}
// CHECK-NEXT: {{^}}    ai-canonicalize{{$}}
// CHECK: {{^}}  ai-outline-kernels{views=true}{{$}}
// UNKNOWN: error: no pipeline is called 'ai-kernel-pipeline', did you mean 'ai-kernels-pipeline'?
// DUMP: Pass Manager with 2 passes:
// DUMP-NEXT: builtin.module(
// DUMP-NEXT: {{^}}  ai-group-kernels{max-ops=4},
// DUMP-NEXT: {{^}}  func.func(
// DUMP-NEXT: {{^}}    ai-group-kernels,
// DUMP-NEXT: {{^}}    cse
// DUMP-NEXT: {{^}}  )
// DUMP-NEXT: {{^}})
// FLAGS: {{^}}  ai-canonicalize,
// FLAGS: {{^}}  ai-dce,
// FLAGS-NEXT: {{^}}  ai-group-kernels{max-ops=4},
// FLAGS-NEXT: {{^}}  cse
// OPTION: error: ai-group-kernels has no option 'ops' (it has: cores, fusion, l2-bytes, max-ops, 
module attributes {ai.level = "graph"} {
  func.func @main(%x: tensor<2x3xf32> {ai.name = "x"}) -> (tensor<2x3xf32> {ai.name = "y"}) {
    %a = "ai.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %a : tensor<2x3xf32>
  }
}
