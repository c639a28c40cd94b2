// Stock mlir-opt learns our dialects from IRDL, and what our importer wrote comes back from it as it was.
// RUN: rm -rf %t && mkdir -p %t
// RUN: aiopt --emit-irdl > %t/all.irdl
// RUN: %python %S/Inputs/write_model.py %t/net.onnx
// RUN: aiopt %t/net.onnx -o %t/net.mlir
// RUN: filecheck %s --input-file %t/net.mlir --check-prefix=NET
// RUN: mlir-opt --irdl-file=%t/all.irdl %t/net.mlir -o %t/back.mlir
// RUN: diff %t/net.mlir %t/back.mlir
// NET: "ai.conv"
// NET: "ai.batch_norm"
// NET: "ai.avg_pool"
// NET: "ai.concat"
// NET: "ai.reduce_mean"
// NET: "ai.cast"

// The levels after it too, as long as ai ops stand in them.
// RUN: aiopt %t/net.mlir -p ai-kernels-pipeline -o %t/kernels.mlir
// RUN: mlir-opt --irdl-file=%t/all.irdl %t/kernels.mlir -o %t/back.mlir
// RUN: diff %t/kernels.mlir %t/back.mlir

// One dialect by name, into a file; it checks what it reads.
// RUN: aiopt --emit-irdl=ai -o %t/ai.irdl
// RUN: filecheck %s --input-file %t/ai.irdl --check-prefix=DIALECT
// RUN: not mlir-opt --irdl-file=%t/ai.irdl %s 2>&1 | filecheck %s --check-prefix=CHECKED
// RUN: not mlir-opt %t/net.mlir 2>&1 | filecheck %s --check-prefix=WITHOUT
// RUN: not aiopt --emit-irdl=aii 2>&1 | filecheck %s --check-prefix=UNKNOWN
// DIALECT: irdl.dialect @ai {
// DIALECT: irdl.operation @relu {
// CHECKED: error: {{.*}}attribute "axis" is expected
// WITHOUT: error: operation being parsed with an unregistered dialect
// UNKNOWN: {{^}}error: no dialect is called 'aii', did you mean 'ai'? (there is: ai, npu)
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = "ai.softmax"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
