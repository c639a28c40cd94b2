"""CPUs: kernels in loops become tasks, then the llvm dialect, then a PIC object through LLVM."""
