"""How a kernel reads an operand of its contraction: an argument, seen through casts, transpositions and slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from mlir import ir

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.permutation import permutation_of
from aiopt.support.types import LOW_FLOATS

FLOAT_ELEMENTS = LOW_FLOATS | {"f32"}  # of what is in memory; in registers all is f32


@dataclass(frozen=True)
class Access:
    """Where the elements of a tensor lie in the argument it is made of: at offset + sum of index[i] * strides[i]."""

    argument: ir.Value
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    through: tuple[Operation, ...] = ()  # the ops between, the last one first

    @property
    def is_plain(self) -> bool:
        """True if the elements lie in the tensor's own order."""
        return self.offset == 0 and self.strides == row_major(self.shape)

    def loaded(self, op: Operation) -> Access:
        """What a load makes of it: the same in another type, in another order, or in part."""
        strides, offset = self.strides, self.offset
        if isinstance(op, (ai.TransposeOp, ai.RelayoutOp)):
            strides = tuple(strides[axis] for axis in permutation_of(op))
        elif isinstance(op, ai.SliceOp):
            offset += sum(start * stride for start, stride in zip(op.starts, strides, strict=True))
            strides = tuple(step * stride for step, stride in zip(op.steps, strides, strict=True))
        return Access(self.argument, type_of(op.operation.results[0]).shape, strides, offset, (op, *self.through))

    def joined(self, first: int, last: int) -> int | None:
        """The stride of the dimensions first <= i < last as one; None if they do not lie one in the other."""
        kept = [axis for axis in range(first, last) if self.shape[axis] != 1]
        for outer, inner in pairwise(kept):
            if self.strides[outer] != self.strides[inner] * self.shape[inner]:
                return None
        return self.strides[kept[-1]] if kept else 0

    def lead_strides(self, rank: int) -> list[int]:
        """Strides along `rank` batch axes of a product, 0 where the operand has one matrix for all."""
        own = [0 if self.shape[axis] == 1 else self.strides[axis] for axis in range(len(self.shape) - 2)]
        return [0] * (rank - len(own)) + own


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Elements between neighbours along each axis of a dense buffer."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def plain_access(value: ir.Value) -> Access:
    """A tensor that is read as it is."""
    shape = type_of(value).shape
    return Access(value, shape, row_major(shape))


def read_access(value: ir.Value, depth: int | None = None) -> Access:
    """The tensor as the value at the end of a chain of casts to 16 bits, transpositions and forward slices.

    depth: the most ops to look through.
    """
    owner = None if isinstance(value, ir.BlockArgument) else ir.OpResult(value).owner.opview
    if depth == 0 or not isinstance(owner, Operation) or not is_load(owner):
        return plain_access(value)
    return read_access(owner.operation.operands[0], None if depth is None else depth - 1).loaded(owner)


def is_load(op: ir.OpView | None) -> bool:
    """True for the ops that can be done by reading elements from other places, or in another type."""
    if isinstance(op, ai.CastOp):
        return type_of(op.out).element in LOW_FLOATS and type_of(op.input).element in FLOAT_ELEMENTS
    if isinstance(op, ai.SliceOp):
        return all(step > 0 for step in op.steps)
    return isinstance(op, (ai.TransposeOp, ai.RelayoutOp))


def reads_matrix(access: Access) -> bool:
    """True for matrices [.., rows, columns] whose rows are vectors in memory, or whose columns are."""
    return _is_near(access, -1) or _is_near(access, -2)


def is_turned(access: Access) -> bool:
    """True for matrices whose rows are no vectors in memory: their columns are."""
    return not _is_near(access, -1)


def _is_near(access: Access, axis: int) -> bool:
    return access.strides[axis] == 1 or access.shape[axis] == 1
