"""Blocks: what the ops of the high tier read and write, as rows of bytes in a buffer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mlir import ir
from mlir.dialects import bufferization, func, memref

from aiopt.dialects.constraints import AnyMemRef
from aiopt.dialects.ext import BufferType, Slot, buffer_type
from aiopt.dialects.npu import ACC, DRAM, SPAD, StartLoadOp, StartStoreOp, TileMatMulOp, TileOp
from aiopt.support.types import item_bytes
from aiopt.targets.npu.access import Memory

TILES = "npu.tiles"  # marks a function of the high tier
ADDRESS = "npu.address"  # of a buffer, once it has one
MEMORIES = {DRAM: Memory.DRAM, SPAD: Memory.SPAD, ACC: Memory.ACC}


def is_tiled(function: func.FuncOp) -> bool:
    """True for a function of the high tier."""
    return TILES in function.attributes


def is_view(op: ir.OpView) -> bool:
    """True for an op whose result is a part of its operand."""
    return isinstance(op, (memref.SubViewOp, memref.CollapseShapeOp))


def is_buffer(op: ir.OpView) -> bool:
    """True for an op that makes a buffer: on the chip or in dram, or a constant."""
    return isinstance(op, (memref.AllocOp, bufferization.ToBufferOp))


def root_of(value: ir.Value) -> ir.Value:
    """The buffer a block lies in."""
    while isinstance(value, ir.OpResult) and is_view(op := value.owner.opview):
        value = op.operation.operands[0]
    return value


def argument_attributes(function: func.FuncOp) -> list[dict[str, ir.Attribute]]:
    """The attributes of each argument by name; empty where there are none."""
    if "arg_attrs" not in function.attributes:
        return [{} for _ in function.arguments]
    return [{entry.name: entry.attr for entry in ir.DictAttr(given)} for given in function.arg_attrs]


def address_of(function: func.FuncOp, buffer: ir.Value) -> int | None:
    """Where in its memory a buffer is, if that is decided."""
    if isinstance(buffer, ir.BlockArgument):
        attributes = argument_attributes(function)[buffer.arg_number]
    else:
        attributes = address_owner(buffer).operation.attributes
    return ir.IntegerAttr(attributes[ADDRESS]).value if ADDRESS in attributes else None


def address_owner(buffer: ir.Value) -> ir.OpView:
    """The op that has the address of a buffer that is no argument: its alloc, or the constant in it."""
    op = buffer.owner.opview
    return op if isinstance(op, memref.AllocOp) else op.operation.operands[0].owner.opview


@dataclass(frozen=True)
class Block:
    """Rows of bytes in a buffer; `start` is the first one's place in it."""

    root: ir.Value
    kind: BufferType
    start: int
    rows: int
    row_bytes: int
    stride: int

    @property
    def memory(self) -> Memory:
        return MEMORIES[self.kind.space]

    @property
    def end(self) -> int:
        """The first byte behind the last row."""
        return self.start + (self.rows - 1) * self.stride + self.row_bytes

    def overlaps(self, other: Block) -> bool:
        """True if a byte is in both."""
        if self.root != other.root or self.end <= other.start or other.end <= self.start:
            return False
        mine, theirs = self._starts(), other._starts()
        behind = np.searchsorted(theirs, mine, side="right")  # of mine, each: the first of theirs that starts behind it
        before = theirs[np.maximum(behind - 1, 0)]
        after = theirs[np.minimum(behind, len(theirs) - 1)]
        hit = (behind > 0) & (before + other.row_bytes > mine)
        hit |= (behind < len(theirs)) & (after < mine + self.row_bytes)
        return bool(hit.any())

    def _starts(self) -> np.ndarray:
        return self.start + self.stride * np.arange(self.rows)


def block_of(value: ir.Value) -> Block:
    """The block a memref of rank 1 or 2 stands for."""
    kind = buffer_type(value)
    size = item_bytes(kind.element)
    rows, stride = (kind.shape[0], kind.strides[0] * size) if len(kind.shape) == 2 else (1, 0)
    return Block(root_of(value), kind, kind.offset * size, rows, kind.shape[-1] * size, stride)


class Blocks:
    """The blocks of one function; a view that many ops use is looked at once."""

    def __init__(self) -> None:
        self._known: dict[ir.Value, Block] = {}

    def of(self, op: TileOp) -> dict[str, Block]:
        """The blocks of an op by operand; absent ones are not there."""
        groups = zip(op.operand_slots, op.operand_groups(), strict=True)
        return {slot.name: self._block(value) for slot, value in groups if value is not None and _is_memref(slot)}

    def accesses(self, op: TileOp) -> list[tuple[str, bool, Block]]:
        """What an op reads, then what it writes: the operand, whether it is written, the block."""
        blocks = self.of(op)
        accumulates = isinstance(op, TileMatMulOp) and op.python_attributes().get("accumulate", False)
        read = [(name, False, block) for name, block in blocks.items() if name != op.written or accumulates]
        return read + [(name, True, block) for name, block in blocks.items() if name == op.written]

    def _block(self, value: ir.Value) -> Block:
        if value not in self._known:
            self._known[value] = block_of(value)
        return self._known[value]


def _is_memref(slot: Slot) -> bool:
    return issubclass(slot.constraint, AnyMemRef)


def is_transfer(op: ir.OpView) -> bool:
    """True for an op that goes on until its token is waited for."""
    return isinstance(op, (StartLoadOp, StartStoreOp))
