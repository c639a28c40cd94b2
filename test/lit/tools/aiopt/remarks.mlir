// Remarks of our passes, by kind and by pass, shown or written as YAML.
// RUN: aiopt %s --ai-group-kernels --remarks-filter=ai-group-kernels -o /dev/null 2>&1 | filecheck %s
// RUN: aiopt %s --ai-group-kernels --remarks-filter-passed='ai-.*' -o /dev/null 2>&1 | filecheck %s
// RUN: aiopt %s --ai-group-kernels --remarks-filter-missed='.*' -o /dev/null 2>&1 | filecheck %s --check-prefix=NONE --allow-empty
// RUN: aiopt %s --ai-group-kernels --remarks-filter='ai-group' -o /dev/null 2>&1 | filecheck %s --check-prefix=NONE --allow-empty
// RUN: aiopt %s --ai-group-kernels -o /dev/null 2>&1 | filecheck %s --check-prefix=NONE --allow-empty
// RUN: aiopt %s --ai-group-kernels --remarks-filter='.*' --remark-format=yaml --remarks-output-file=%t.yaml -o /dev/null
// RUN: filecheck %s --input-file %t.yaml --check-prefix=YAML
// RUN: aiopt %s --ai-group-kernels --ai-group-kernels --remarks-filter='.*' --remark-policy=final -o /dev/null 2>&1 | filecheck %s
// RUN: not aiopt %s --ai-group-kernels --remarks-filter='(' 2>&1 | filecheck %s --check-prefix=BAD

// CHECK: remarks.mlir:29:10: remark: [Passed] fused | Category:ai-group-kernels | Function=main | Remark="fused ai.neg into Relu_0"
// CHECK-NEXT: %b = "ai.neg"
// CHECK-NEXT: {{^         \^}}
// CHECK-NOT: remark:
// NONE-NOT: remark
// YAML: --- !Passed
// YAML-NEXT: Pass:            ai-group-kernels
// YAML-NEXT: Name:            fused
// YAML-NEXT: DebugLoc:        { File: {{.*}}remarks.mlir{{.*}}, Line: 29, Column: 10 }
// YAML-NEXT: Function:        main
// YAML-NEXT: Args:
// YAML-NEXT:   - Remark:          'fused ai.neg into Relu_0'
// YAML-NEXT: ...
// BAD: error: --remarks-filter: '(' is no regular expression
module attributes {ai.level = "graph"} {
  func.func @main(%x: tensor<2x3xf32> {ai.name = "x"}) -> (tensor<2x3xf32> {ai.name = "y"}) {
    %a = "ai.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("Relu_0")
    %b = "ai.neg"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %b : tensor<2x3xf32>
  }
}
