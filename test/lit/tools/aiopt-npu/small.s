# A program goes to a file and back, and runs.
# RUN: rm -rf %t && mkdir -p %t
# RUN: aiopt-npu asm %s -o %t/small.npub
# RUN: aiopt-npu disasm %t/small.npub -o %t/again.s
# RUN: filecheck %s --check-prefix=TEXT --input-file %t/again.s
# RUN: aiopt-npu asm - -o %t/again.npub < %t/again.s
# RUN: cmp %t/small.npub %t/again.npub
# RUN: aiopt-npu run %t/small.npub --result y=%t/y.npy | filecheck %s
# RUN: aiopt-npu run %s | filecheck %s
# RUN: aiopt-npu run %s --machine edge16 --seed 3 --json | %python -m json.tool | filecheck %s --check-prefix=JSON
# RUN: %python -c "import numpy; numpy.ones((32, 16), 'int8').tofile(r'%t/x.bin')"
# RUN: aiopt-npu run %s --input x=%t/x.bin --result y=%t/y.bin | filecheck %s --check-prefix=ONES
# RUN: %python -c "import numpy; print(numpy.fromfile(r'%t/y.bin', 'int8')[:3])" | filecheck %s --check-prefix=RAW

# CHECK: output y: 32x16 int8, min
# CHECK-NEXT: cycles: 478 (1.0 us at 500 MHz on edge16)
# CHECK-NEXT: utilisation of the array: 6.7% (8192 multiply-adds)
# CHECK-NEXT: busy: load 51.9%, matrix 16.3%, vector 6.7%, store 27.6%
# CHECK-NEXT: dram: 768 bytes loaded, 512 stored
# JSON: "cycles": 478
# ONES: output y: 32x16 int8, min 16, max 16
# RAW: [16 16 16]

# TEXT: .machine edge16
# TEXT-NEXT: .dram 4096
# TEXT-NEXT: .input x 0x0 32x16xi8
# TEXT-NEXT: .output y 0x400 32x16xi8
# TEXT-NEXT: .data 0x800 0101
# TEXT: sem_init semaphore=2 signaller=vector waiter=store
# TEXT-NEXT: dma_ld dram=0x800 rows=16 row_bytes=16 dram_stride=16 spad_stride=16 signals=s0
# TEXT: matmul spad=0x100 stride=16 acc_stride=64 rows=32 inner=16 columns=16 element=i8 swap waits=s0 signals=s1
# TEXT: halt
.machine edge16
.dram 4096
.input x 0x0 32x16xi8
.output y 0x400 32x16xi8
.data 0x800 0101010101010101010101010101010101010101010101010101010101010101
.data 0x820 0101010101010101010101010101010101010101010101010101010101010101
.data 0x840 0101010101010101010101010101010101010101010101010101010101010101
.data 0x860 0101010101010101010101010101010101010101010101010101010101010101
.data 0x880 0101010101010101010101010101010101010101010101010101010101010101
.data 0x8a0 0101010101010101010101010101010101010101010101010101010101010101
.data 0x8c0 0101010101010101010101010101010101010101010101010101010101010101
.data 0x8e0 0101010101010101010101010101010101010101010101010101010101010101
sem_init semaphore=0 signaller=load waiter=matrix
sem_init semaphore=1 signaller=matrix waiter=vector
sem_init semaphore=2 signaller=vector waiter=store
dma_ld dram=0x800 rows=16 row_bytes=16 dram_stride=16 spad_stride=16 signals=s0
dma_ld spad=0x100 rows=32 row_bytes=16 dram_stride=16 spad_stride=16 signals=s0
loadw stride=16 rows=16 columns=16 waits=s0
matmul spad=0x100 stride=16 acc_stride=64 rows=32 inner=16 columns=16 swap waits=s0 signals=s1
requant acc_stride=64 out=0x400 out_stride=16 rows=32 columns=16 scale=1 waits=s1 signals=s2
dma_st dram=0x400 spad=0x400 rows=32 row_bytes=16 dram_stride=16 spad_stride=16 waits=s2
halt
