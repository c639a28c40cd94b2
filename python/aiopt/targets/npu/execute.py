"""What an instruction does to the memories, in numpy, one instruction at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aiopt.targets.npu import isa
from aiopt.targets.npu.encoding import Instruction
from aiopt.targets.npu.machine import Machine

_DTYPES = {
    isa.Element.I8: np.dtype(np.int8),
    isa.Element.U8: np.dtype(np.uint8),
    isa.Element.I32: np.dtype(np.int32),
    isa.Element.F32: np.dtype(np.float32),
}
_BYTE = _DTYPES[isa.Element.U8]
_SUM = _DTYPES[isa.Element.I32]


class State:
    """The memories as bytes, and both sets of weights as f32 [rows, columns], which holds int8 exactly."""

    def __init__(self, machine: Machine, dram: np.ndarray) -> None:
        self.machine = machine
        self.dram = dram
        self.spad = np.zeros(machine.spad_bytes, np.uint8)
        self.acc = np.zeros(machine.acc_bytes, np.uint8)
        self.shadow = np.zeros((machine.rows, machine.columns), np.float32)
        self.active = self.shadow

    def execute(self, instruction: Instruction) -> None:
        """Do what one verified instruction does."""
        if rule := _RULES.get(type(instruction)):
            with np.errstate(all="ignore"):
                rule(self, instruction)


def _rows(memory: np.ndarray, address: int, rows: int, columns: int, stride: int, dtype: np.dtype) -> np.ndarray:
    """A view [rows, columns] of bytes."""
    return np.ndarray((rows, columns), dtype, memory, address, (stride, dtype.itemsize))  # type: ignore[arg-type]


def _load(state: State, op: isa.DmaLoad) -> None:
    rows, columns = op.top + op.rows + op.bottom, op.left + op.row_bytes + op.right
    out = _rows(state.spad, op.spad, rows, columns, op.spad_stride, _BYTE)
    if (rows, columns) != (op.rows, op.row_bytes):
        out[...] = op.fill
    inside = out[op.top : op.top + op.rows, op.left : op.left + op.row_bytes]
    inside[...] = _rows(state.dram, op.dram, op.rows, op.row_bytes, op.dram_stride, _BYTE)


def _store(state: State, op: isa.DmaStore) -> None:
    out = _rows(state.dram, op.dram, op.rows, op.row_bytes, op.dram_stride, _BYTE)
    out[...] = _rows(state.spad, op.spad, op.rows, op.row_bytes, op.spad_stride, _BYTE)


def _load_weights(state: State, op: isa.LoadWeights) -> None:
    state.shadow = np.zeros((state.machine.rows, state.machine.columns), np.float32)
    weights = _rows(state.spad, op.spad, op.rows, op.columns, op.stride, _DTYPES[op.element])
    state.shadow[: op.rows, : op.columns] = weights


def _matmul(state: State, op: isa.MatMul) -> None:
    if op.swap:
        state.active = state.shadow
    weights = state.active[: op.inner, : op.columns]
    left = _rows(state.spad, op.spad, op.rows, op.inner, op.stride, _DTYPES[op.element])
    if op.element == isa.Element.F32:
        dtype = np.dtype(np.float32)
        sums = left[:, :1] * weights[0]
        for k in range(1, op.inner):
            sums += left[:, k : k + 1] * weights[k]
    else:
        dtype = _SUM
        # Exact: a sum has at most 512 terms below 2^15 (machine.py), and f32 holds all integers up to 2^24.
        sums = (left.astype(np.float32) @ weights).astype(np.int32)
    out = _rows(state.acc, op.acc, op.rows, op.columns, op.acc_stride, dtype)
    if op.accumulate:
        out += sums
    else:
        out[...] = sums


_VECTOR: dict[isa.VectorOp, Callable[[np.ndarray, Any], np.ndarray]] = {
    isa.VectorOp.COPY: lambda left, right: left,
    isa.VectorOp.ADD: np.add,
    isa.VectorOp.SUB: np.subtract,
    isa.VectorOp.MUL: np.multiply,
    isa.VectorOp.MAX: np.maximum,
    isa.VectorOp.MIN: np.minimum,
}


def _vec(state: State, op: isa.Vec) -> None:
    memories = {isa.Space.SPAD: state.spad, isa.Space.ACC: state.acc}
    dtype = _DTYPES[op.element]
    left = _rows(memories[op.left_space], op.left, op.rows, op.columns, op.left_stride, dtype)
    right: Any = None
    if op.op != isa.VectorOp.COPY:
        right = dtype.type(op.immediate)
        if not op.constant:
            rows = op.rows if op.right_stride else 1
            right = _rows(memories[op.right_space], op.right, rows, op.columns, op.right_stride, dtype)
    out = _rows(memories[op.out_space], op.out, op.rows, op.columns, op.out_stride, dtype)
    out[...] = _VECTOR[op.op](left, right)


def _requant(state: State, op: isa.Requant) -> None:
    sums = _rows(state.acc, op.acc, op.rows, op.columns, op.acc_stride, _SUM)
    if op.has_bias:
        sums = sums + _rows(state.spad, op.bias, 1, op.columns, 0, _SUM)
    scale: Any = np.float32(op.scale)
    if op.per_column:
        scale = _rows(state.spad, op.scales, 1, op.columns, 0, _DTYPES[isa.Element.F32])
    low = 0 if op.element == isa.Element.U8 else -128
    scaled = np.nan_to_num(np.rint(sums.astype(np.float32) * scale), nan=0.0)
    # Bounds first, so that the sum is exact.
    least = 0 if op.relu else low - op.zero_point
    values = np.clip(scaled, least, low + 255 - op.zero_point).astype(np.int32) + op.zero_point
    out = _rows(state.spad, op.out, op.rows, op.columns, op.out_stride, _DTYPES[op.element])
    out[...] = values


_RULES: dict[type[Instruction], Callable[[State, Any], None]] = {
    isa.DmaLoad: _load,
    isa.DmaStore: _store,
    isa.LoadWeights: _load_weights,
    isa.MatMul: _matmul,
    isa.Vec: _vec,
    isa.Requant: _requant,
}
