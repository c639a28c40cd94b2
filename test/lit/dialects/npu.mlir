// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/rows = 32/row = 32/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=NAME
// RUN: sed 's/swap = true/swap = 1 : i64/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: sed 's/waits = array<i64: 0, 1>/waits = array<i32: 0, 1>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=WAITS

// CHECK-LABEL: func.func @instructions
// CHECK-NEXT: "npu.sem_init"() {signaller = "load", waiter = "matrix"} : () -> ()
// CHECK-NEXT: "npu.loadw"() {columns = 16 : i64, element = "i8", rows = 16 : i64, stride = 16 : i64, waits = array<i64: 0, 1>} : () -> ()
// CHECK-NEXT: "npu.matmul"() {acc_stride = 64 : i64, columns = 16 : i64, element = "i8", inner = 16 : i64, rows = 32 : i64, stride = 16 : i64, swap = true} : () -> ()
// NAME: error: {{.*}}npu.matmul has no attribute 'row', did you mean 'rows'?
// FLAG: error: {{.*}}npu.matmul: attribute 'swap' must be true or false, but is 1 : i64
// WAITS: error: {{.*}}npu.loadw: attribute 'waits' must be an array of i64
func.func @instructions() {
  "npu.sem_init"() {signaller = "load", waiter = "matrix"} : () -> ()
  "npu.loadw"() {columns = 16 : i64, element = "i8", rows = 16 : i64, stride = 16 : i64, waits = array<i64: 0, 1>} : () -> ()
  "npu.matmul"() {acc_stride = 64 : i64, columns = 16 : i64, element = "i8", inner = 16 : i64, rows = 32 : i64, stride = 16 : i64, swap = true} : () -> ()
  return
}
