"""The `npu` dialect: programs for NPUs with a systolic array."""

from aiopt.dialects.npu.dialect import ACC, DRAM, SPAD, NpuDialect
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
from aiopt.dialects.npu.tiles import (
    StartLoadOp,
    StartStoreOp,
    TileMatMulOp,
    TileOp,
    TileRequantOp,
    TileVecOp,
    WaitOp,
)

__all__ = [
    "ACC",
    "DRAM",
    "SPAD",
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
    "StartLoadOp",
    "StartStoreOp",
    "TileMatMulOp",
    "TileOp",
    "TileRequantOp",
    "TileVecOp",
    "VecOp",
    "WaitOp",
]
