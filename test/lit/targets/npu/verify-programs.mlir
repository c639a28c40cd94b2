// RUN: aiopt -p npu-verify-programs %s | filecheck %s
// RUN: aiopt -p 'npu-verify-programs{machine=edge16}' %s | filecheck %s
// RUN: not aiopt -p 'npu-verify-programs{machine=mid32}' %s 2>&1 | filecheck %s --check-prefix=MACHINE
// RUN: sed 's/spad = 16 : i64/spad = 262137 : i64/' %s | not aiopt -p npu-verify-programs 2>&1 | filecheck %s --check-prefix=CAPACITY
// RUN: sed 's/, waits = array<i64: 0, 1>//' %s | not aiopt -p npu-verify-programs 2>&1 | filecheck %s --check-prefix=BALANCE
// RUN: sed 's/waits = array<i64: 0, 1>/waits = array<i64: 0>/' %s | not aiopt -p npu-verify-programs 2>&1 | filecheck %s --check-prefix=PAIRS
// RUN: sed 's/waiter = "store"/waiter = "stores"/' %s | not aiopt -p npu-verify-programs 2>&1 | filecheck %s --check-prefix=QUEUE
// RUN: sed 's/"npu.halt"() : () -> ()/%%c = arith.constant 0 : i32/' %s | not aiopt -p npu-verify-programs 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: sed 's/npu.dram_bytes = 64 : i64, //' %s | not aiopt -p npu-verify-programs 2>&1 | filecheck %s --check-prefix=ATTRIBUTE
// RUN: sed 's/name = "x"/nam = "x"/' %s | not aiopt -p npu-verify-programs 2>&1 | filecheck %s --check-prefix=FORM
// RUN: rm -rf %t && mkdir -p %t
// RUN: aiopt-npu asm %s -o %t/copy.npub
// RUN: aiopt-npu disasm %t/copy.npub -o %t/copy.mlir
// RUN: aiopt-npu asm %t/copy.mlir -o %t/again.npub
// RUN: cmp %t/copy.npub %t/again.npub
// RUN: aiopt-npu run %t/copy.mlir | filecheck %s --check-prefix=RUNS

// CHECK-LABEL: func.func @copy
// CHECK: "npu.dma_st"
// RUNS: output y: 8 int8, min
// MACHINE: error: {{.*}}program 'copy': the program was made for machine 'edge16', which is not this 'mid32'
// CAPACITY: error: {{.*}}program 'copy': instruction 1 (dma_ld): spad needs 262145 bytes of spad, but there are 262144
// BALANCE: error: {{.*}}program 'copy': s0 is not balanced: 1 signalled, 0 waited for
// PAIRS: error: {{.*}}waits must be pairs of semaphore and count, but is [0]
// QUEUE: error: {{.*}}waiter must be one of load, matrix, vector, store, but is 'stores'
// OTHER: error: {{.*}}program 'copy' holds arith.constant, which is no instruction
// ATTRIBUTE: error: {{.*}}program 'copy' has no attribute npu.dram_bytes
// FORM: error: {{.*}}program 'copy': an attribute npu.* is not there or does not have its form
func.func @copy() attributes {npu.dram_bytes = 64 : i64, npu.inputs = [{address = 0 : i64, name = "x", type = tensor<8xi8>}], npu.machine = "edge16", npu.machine_hash = "8823e15c6540ed9e1e4b6eed9c507837550cdb60392da5e6adc642a1a1ccba65", npu.outputs = [{address = 32 : i64, name = "y", type = tensor<8xi8>}]} {
  "npu.sem_init"() {signaller = "load", waiter = "store"} : () -> ()
  "npu.dma_ld"() {row_bytes = 8 : i64, rows = 1 : i64, signals = array<i64: 0, 1>, spad = 16 : i64} : () -> ()
  "npu.dma_st"() {dram = 32 : i64, row_bytes = 8 : i64, rows = 1 : i64, spad = 16 : i64, waits = array<i64: 0, 1>} : () -> ()
  "npu.halt"() : () -> ()
  return
}
