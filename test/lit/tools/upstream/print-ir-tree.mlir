// The IR around passes in a tree of files.
// RUN: rm -rf %t && aiopt %s --cse --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t -o /dev/null
// RUN: filecheck %s --input-file %t/builtin_module_no-symbol-name/0_cse.mlir
// CHECK: IR Dump After CSE (cse)
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
