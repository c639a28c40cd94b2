"""Which bytes an instruction reads and writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from aiopt.targets.npu import isa
from aiopt.targets.npu.encoding import Instruction


class Memory(Enum):
    """The three memories."""

    DRAM = "dram"
    SPAD = "spad"
    ACC = "acc"


@dataclass(frozen=True)
class Access:
    """Rows of bytes in one memory that an instruction reads or writes; what it does to both is two of these."""

    what: str  # the operand
    memory: Memory
    write: bool
    address: int
    rows: int
    row_bytes: int
    stride: int
    alignment: int = 1

    @property
    def end(self) -> int:
        """The first byte behind the last row."""
        return self.address + (self.rows - 1) * self.stride + self.row_bytes


def accesses(instruction: Instruction) -> list[Access]:
    """All that an instruction reads and writes, reads first."""
    rule = _RULES.get(type(instruction))
    return rule(instruction) if rule else []


def _of_load(op: isa.DmaLoad) -> list[Access]:
    rows, row_bytes = op.top + op.rows + op.bottom, op.left + op.row_bytes + op.right
    return [
        Access("dram", Memory.DRAM, False, op.dram, op.rows, op.row_bytes, op.dram_stride),
        Access("spad", Memory.SPAD, True, op.spad, rows, row_bytes, op.spad_stride),
    ]


def _of_store(op: isa.DmaStore) -> list[Access]:
    return [
        Access("spad", Memory.SPAD, False, op.spad, op.rows, op.row_bytes, op.spad_stride),
        Access("dram", Memory.DRAM, True, op.dram, op.rows, op.row_bytes, op.dram_stride),
    ]


def _of_weights(op: isa.LoadWeights) -> list[Access]:
    size = op.element.bytes
    return [Access("weights", Memory.SPAD, False, op.spad, op.rows, op.columns * size, op.stride, size)]


def _of_matmul(op: isa.MatMul) -> list[Access]:
    size = op.element.bytes
    sums = ("acc", Memory.ACC)
    result = (op.acc, op.rows, op.columns * 4, op.acc_stride, 4)
    left = Access("left", Memory.SPAD, False, op.spad, op.rows, op.inner * size, op.stride, size)
    return [left, *([Access(*sums, False, *result)] if op.accumulate else []), Access(*sums, True, *result)]


_ON_CHIP = {isa.Space.SPAD: Memory.SPAD, isa.Space.ACC: Memory.ACC}


def _of_vec(op: isa.Vec) -> list[Access]:
    size, row_bytes = op.element.bytes, op.columns * op.element.bytes
    left, right, out = (_ON_CHIP[space] for space in (op.left_space, op.right_space, op.out_space))
    found = [Access("left", left, False, op.left, op.rows, row_bytes, op.left_stride, size)]
    if op.op != isa.VectorOp.COPY and not op.constant:
        rows = op.rows if op.right_stride else 1  # one row for all
        found.append(Access("right", right, False, op.right, rows, row_bytes, op.right_stride, size))
    return [*found, Access("out", out, True, op.out, op.rows, row_bytes, op.out_stride, size)]


def _of_requant(op: isa.Requant) -> list[Access]:
    found = [Access("acc", Memory.ACC, False, op.acc, op.rows, op.columns * 4, op.acc_stride, 4)]
    for what, there, address in (("bias", op.has_bias, op.bias), ("scales", op.per_column, op.scales)):
        if there:
            found.append(Access(what, Memory.SPAD, False, address, 1, op.columns * 4, op.columns * 4, 4))
    return [*found, Access("out", Memory.SPAD, True, op.out, op.rows, op.columns, op.out_stride)]


_RULES: dict[type[Instruction], Callable[[Any], list[Access]]] = {
    isa.DmaLoad: _of_load,
    isa.DmaStore: _of_store,
    isa.LoadWeights: _of_weights,
    isa.MatMul: _of_matmul,
    isa.Vec: _of_vec,
    isa.Requant: _of_requant,
}
