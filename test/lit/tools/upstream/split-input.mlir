// Chunks are processed one by one; the errors have the lines of the file.
// RUN: not aiopt %s --split-input-file 2>%t | filecheck %s
// RUN: filecheck %s --input-file %t --check-prefix=ERROR
// CHECK: @first
// CHECK: // -----
// CHECK: @third
// ERROR: split-input.mlir:10:{{[0-9]+}}: error: expected
func.func @first() { return }
// -----
func.func @second( { return }
// -----
func.func @third() { return }
