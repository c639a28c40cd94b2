"""Small forms many operators are made of; each returns its operand where there is nothing to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.builder import require_small
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError


def scalar(like: Value, number: float) -> Value:
    """A known scalar of the element type of `like`."""
    return Value.known(np.array(number, like.type.dtype))


def steps(count: int, axis: int, rank: int) -> Value:
    """The known numbers 0, 1, ... count - 1 (i64) along an axis, which broadcast over the others."""
    require_small([count], "i64")
    return Value.known(np.arange(count).reshape([count if at == axis else 1 for at in range(rank)]))


def cast(node: Node, x: Value, element: str) -> Value:
    return x if x.element == element else node.emit(ai.CastOp, x, to=element)


def reshape(node: Node, x: Value, shape: Sequence[int]) -> Value:
    return x if x.shape == tuple(shape) else node.emit(ai.ReshapeOp, x, shape=list(shape))


def transpose(node: Node, x: Value, permutation: Sequence[int]) -> Value:
    unchanged = list(permutation) == list(range(x.rank))
    return x if unchanged else node.emit(ai.TransposeOp, x, permutation=list(permutation))


def take(node: Node, x: Value, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> Value:
    """The box of `sizes` elements from `starts` on, every step-th."""
    if tuple(sizes) == x.shape and all(step > 0 or size == 0 for step, size in zip(steps, sizes, strict=True)):
        return x
    return node.emit(ai.SliceOp, x, starts=list(starts), sizes=list(sizes), steps=list(steps))


def broadcast_to(node: Node, x: Value, shape: Sequence[int]) -> Value:
    """x repeated to `shape`, to which it must broadcast."""
    return x if x.shape == tuple(shape) else node.emit(ai.BroadcastToOp, x, shape=list(shape))


def matrix_product(node: Node, lhs: Value, rhs: Value, multiply: Callable[[Value, Value], Value]) -> Value:
    """As numpy.matmul: a vector is a row on the left, a column on the right, and its dimension is dropped again.

    multiply: gives the product of two operands of rank 2 or more. Errors: ModelError for a scalar.
    """
    if 0 in (lhs.rank, rhs.rank):
        raise ModelError(f"a scalar cannot be an operand of {node.proto.op_type}")
    row = reshape(node, lhs, (1, *lhs.shape)) if lhs.rank == 1 else lhs
    column = reshape(node, rhs, (*rhs.shape, 1)) if rhs.rank == 1 else rhs
    out = multiply(row, column)
    shape = list(out.shape)
    if rhs.rank == 1:
        del shape[-1]
    if lhs.rank == 1:
        del shape[-1 if rhs.rank == 1 else -2]
    return reshape(node, out, shape)


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from the front. Errors: ModelError if it is out of range."""
    if not -rank <= axis < rank:
        raise ModelError(f"axis {axis} is out of range for a tensor of rank {rank}")
    return axis % rank


def normal_axes(axes: Sequence[int], rank: int) -> list[int]:
    """Axes counted from the front, rising. Errors: ModelError if one is out of range or given twice."""
    normal = sorted(normal_axis(axis, rank) for axis in axes)
    if len(set(normal)) != len(normal):
        raise ModelError(f"axes {list(axes)} name one axis twice")
    return normal
