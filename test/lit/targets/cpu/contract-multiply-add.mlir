// RUN: aiopt -p cpu-contract-multiply-add %s | filecheck %s
// RUN: not aiopt -p 'cpu-contract-multiply-add{fast=true}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: error: cpu-contract-multiply-add has no option 'fast' (it has none)

module attributes {ai.level = "cpu"} {
  // CHECK-LABEL: llvm.func @product_first
  llvm.func @product_first(%a: f32, %b: f32, %c: f32) -> f32 {
    // CHECK: llvm.intr.fmuladd(%arg0, %arg1, %arg2)
    // CHECK-NOT: llvm.fmul
    %p = llvm.fmul %a, %b : f32
    %s = llvm.fadd %p, %c : f32
    llvm.return %s : f32
  }
  // CHECK-LABEL: llvm.func @product_last
  llvm.func @product_last(%a: vector<8xf32>, %b: vector<8xf32>, %c: vector<8xf32>) -> vector<8xf32> {
    // CHECK: llvm.intr.fmuladd(%arg0, %arg1, %arg2)
    %p = llvm.fmul %a, %b : vector<8xf32>
    %s = llvm.fadd %c, %p : vector<8xf32>
    llvm.return %s : vector<8xf32>
  }
  // A product that is used elsewhere too stays, rounded as it is.
  // CHECK-LABEL: llvm.func @shared
  llvm.func @shared(%a: f32, %b: f32, %c: f32) -> f32 {
    // CHECK: %[[P:.*]] = llvm.fmul
    // CHECK: llvm.fadd %[[P]]
    // CHECK: llvm.fdiv
    %p = llvm.fmul %a, %b : f32
    %s = llvm.fadd %p, %c : f32
    %q = llvm.fdiv %s, %p : f32
    llvm.return %q : f32
  }
  // So does one of another block: it may have been moved out of a loop.
  // CHECK-LABEL: llvm.func @other_block
  llvm.func @other_block(%a: f32, %b: f32, %c: f32) -> f32 {
    // CHECK: llvm.fmul
    // CHECK: llvm.fadd
    %p = llvm.fmul %a, %b : f32
    llvm.br ^next
  ^next:
    %s = llvm.fadd %p, %c : f32
    llvm.return %s : f32
  }
  // CHECK-LABEL: llvm.func @two_products
  llvm.func @two_products(%a: f32, %b: f32, %c: f32) -> f32 {
    // CHECK: %[[Q:.*]] = llvm.fmul %arg1, %arg2
    // CHECK: llvm.intr.fmuladd(%arg0, %arg1, %[[Q]])
    %p = llvm.fmul %a, %b : f32
    %q = llvm.fmul %b, %c : f32
    %s = llvm.fadd %p, %q : f32
    llvm.return %s : f32
  }
}
