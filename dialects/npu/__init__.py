"""The `npu` dialect: programs for NPUs with a systolic array."""

from aiopt.dialects.npu.dialect import NpuDialect
from aiopt.dialects.npu.instructions import (
    DmaLoadOp,
    DmaStoreOp,
    FenceOp,
    HaltOp,
    Instruction,
    LoadWeightsOp,
    MatMulOp,
    NopOp,
    RequantOp,
    SemInitOp,
    VecOp,
)

__all__ = [
    "DmaLoadOp",
    "DmaStoreOp",
    "FenceOp",
    "HaltOp",
    "Instruction",
    "LoadWeightsOp",
    "MatMulOp",
    "NopOp",
    "NpuDialect",
    "RequantOp",
    "SemInitOp",
    "VecOp",
]
