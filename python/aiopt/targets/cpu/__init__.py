"""CPUs: kernels in loops become tasks, then the llvm dialect, then a PIC object through LLVM."""

from aiopt.targets.cpu.target import CpuTarget

TARGET = CpuTarget()

__all__ = ["TARGET", "CpuTarget"]
