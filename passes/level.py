"""The levels of the IR."""

from enum import Enum


class Level(Enum):
    """Where on the one-way street a module stands; the value is what the attribute `ai.level` holds."""

    GRAPH = "graph"
    KERNELS = "kernels"
    PARTS = "parts"
    TENSOR = "tensor"
    LOOPS = "loops"
    CPU = "cpu"
    LLVM = "llvm"
