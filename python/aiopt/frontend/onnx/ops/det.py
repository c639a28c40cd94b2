"""Determinants."""

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast, reshape, scalar, take
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError
from aiopt.support.types import LOW_FLOATS

_LARGEST = 8  # elimination is unrolled: some size^3 / 2 small operations


@onnx_op("Det", since=11)
def _det(node: Node) -> Value:
    """Of matrices [..., n, n]: elimination on rows, with the largest element of a column as pivot."""
    x = node.input(0)
    if x.rank < 2 or x.shape[-1] != x.shape[-2]:
        raise ModelError(f"the input must be of square matrices, but has shape {list(x.shape)}")
    size, batch = x.shape[-1], x.shape[:-2]
    if size > _LARGEST:
        raise UnsupportedError(f"determinants of {size} rows are not supported: {_LARGEST} are the most")
    wide = cast(node, x, "f32" if x.element in LOW_FLOATS else x.element)
    count = x.type.size // (size * size) if size else 1
    flat = reshape(node, wide, (count, size, size))
    rows = [_part(node, flat, index) for index in range(size)]
    total = scalar(wide, 1)
    for step in range(size):
        _put_largest_first(node, rows, step)
        pivot = _element(node, rows[step], step)
        total = node.emit(ai.MulOp, total, pivot)
        divisor = node.emit(ai.SelectOp, node.emit(ai.EqualOp, pivot, scalar(pivot, 0)), scalar(pivot, 1), pivot)
        for index in range(step + 1, size):
            factor = node.emit(ai.DivOp, _element(node, rows[index], step), divisor)
            rows[index] = node.emit(ai.SubOp, rows[index], node.emit(ai.MulOp, factor, rows[step]))
    out = node.emit(ai.BroadcastToOp, total, shape=list(batch)) if not size else reshape(node, total, batch)
    return cast(node, out, x.element)


def _part(node: Node, x: Value, index: int) -> Value:
    """Row `index` of all matrices, [count, n]."""
    return reshape(node, take(node, x, [0, index, 0], [x.shape[0], 1, x.shape[2]], [1] * 3), (x.shape[0], x.shape[2]))


def _element(node: Node, row: Value, column: int) -> Value:
    return take(node, row, [0, column], [row.shape[0], 1], [1, 1])


def _put_largest_first(node: Node, rows: list[Value], step: int) -> None:
    """Exchange rows, one of them negated, so that the determinant stays."""
    for other in range(step + 1, len(rows)):
        best, new = (node.emit(ai.AbsOp, _element(node, rows[at], step)) for at in (step, other))
        is_larger = node.emit(ai.LessOp, best, new)
        first, second = rows[step], rows[other]
        rows[step] = node.emit(ai.SelectOp, is_larger, second, first)
        rows[other] = node.emit(ai.SelectOp, is_larger, node.emit(ai.NegOp, first), second)
