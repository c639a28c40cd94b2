# Each mistake is one line that says where and what.
# RUN: rm -rf %t && mkdir -p %t
# RUN: aiopt-npu run %s
# RUN: aiopt-npu asm %s -o %t/e.npub
# RUN: sed 's/^dma_st/nop on=load signals=s0\ndma_st/;s/waits=s0/waits=s0:2/' %s | aiopt-npu run -
# RUN: sed 's/signals=s0//;s/waits=s0//' %s | not aiopt-npu run - 2>&1 | filecheck %s --check-prefix=RACE
# RUN: sed 's/signals=s0//;s/waits=s0//' %s | aiopt-npu asm - -o %t/race.npub
# RUN: sed 's/waits=s0//' %s | not aiopt-npu run - 2>&1 | filecheck %s --check-prefix=BALANCE
# RUN: sed 's/spad=0x10/spad=0x3fff9/' %s | not aiopt-npu run - 2>&1 | filecheck %s --check-prefix=CAPACITY
# RUN: sed 's/dma_ld/dma_load/' %s | not aiopt-npu asm - 2>&1 | filecheck %s --check-prefix=MNEMONIC
# RUN: not aiopt-npu run %s --machine mid32 2>&1 | filecheck %s --check-prefix=MACHINE
# RUN: not aiopt-npu run %s --input z=%s 2>&1 | filecheck %s --check-prefix=INPUT
# RUN: not aiopt-npu run %s --input x=%s 2>&1 | filecheck %s --check-prefix=RAW
# RUN: not aiopt-npu run %s --result x=%t/x 2>&1 | filecheck %s --check-prefix=RESULT
# RUN: not aiopt-npu run %s -o %t/x 2>&1 | filecheck %s --check-prefix=OPTION
# RUN: not aiopt-npu disasm %s 2>&1 | filecheck %s --check-prefix=BINARY
# RUN: not aiopt-npu asm %t/e.npub 2>&1 | filecheck %s --check-prefix=ALREADY
# RUN: not aiopt-npu link %s 2>&1 | filecheck %s --check-prefix=ACTION
# RUN: not aiopt-npu run %t/none 2>&1 | filecheck %s --check-prefix=NONE

# RACE: error: race: instruction 1 writes and instruction 2 reads spad 0x10, and nothing orders them
# BALANCE: error: s0 is not balanced: 1 signalled, 0 waited for
# CAPACITY: error: instruction 1 (dma_ld): spad needs 262145 bytes of spad, but there are 262144
# MNEMONIC: error: -:{{[0-9]+}}: there is no instruction 'dma_load', did you mean 'dma_ld'?
# MACHINE: error: the program was made for machine 'edge16', which is not this 'mid32'
# INPUT: error: input 'z'
# RAW: error: input 'x': '{{.*}}' must have 8 bytes, but has
# RESULT: error: --result x: the program has no such output
# OPTION: error: -o is not for aiopt-npu run
# BINARY: error: '{{.*}}': is not an npub file
# ALREADY: error: '{{.*}}' is an npub file already
# ACTION: error: action: invalid choice: 'link'
# NONE: error: cannot read '{{.*}}': No such file or directory
.machine edge16
.dram 64
.input x 0x0 8xi8
.output y 0x20 8xi8
sem_init semaphore=0 signaller=load waiter=store
dma_ld dram=0x0 spad=0x10 rows=1 row_bytes=8 signals=s0
dma_st dram=0x20 spad=0x10 rows=1 row_bytes=8 waits=s0
halt
