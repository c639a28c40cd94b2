"""Places of elements as numbers: what gathers and scatters of any rank become ones along a flat dimension by."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import broadcast_to, cast, reshape, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError


def place_along(node: Node, indices: Value, size: int, outside: int | None = None) -> Value:
    """Indices into a dimension of `size` elements as i64 counted from the front.

    One out of range becomes `outside` (for writes, which are left out there), or the nearest one (for reads): compiled
    code cannot raise the error that ONNX makes of it.
    Errors: ModelError if one that is known is out of range.
    """
    if (known := indices.array) is not None and known.size and not (-size <= known.min() and known.max() < size):
        raise ModelError(f"an index is out of range: the dimension has {size} elements")
    at = cast(node, indices, "i64")
    zero, end = scalar(at, 0), scalar(at, size)
    at = node.emit(ai.SelectOp, node.emit(ai.LessOp, at, zero), node.emit(ai.AddOp, at, end), at)
    if known is not None:
        return at
    if outside is None:
        return node.emit(ai.MaximumOp, node.emit(ai.MinimumOp, at, scalar(at, max(size - 1, 0))), zero)
    inside = node.emit(ai.AndOp, node.emit(ai.LessEqualOp, zero, at), node.emit(ai.LessOp, at, end))
    return node.emit(ai.SelectOp, inside, at, scalar(at, outside))


def flat_places(node: Node, shape: Sequence[int], places: Sequence[Value]) -> Value:
    """Where elements stand in row-major order: one place per dimension of `shape`, i64, broadcast."""
    total: Value | None = None
    for axis, place in enumerate(places):
        stride = math.prod(shape[axis + 1 :])
        term = node.emit(ai.MulOp, place, scalar(place, stride)) if stride != 1 else place
        total = term if total is None else node.emit(ai.AddOp, total, term)
    return Value.known(np.array(0)) if total is None else total


def beyond(shape: Sequence[int]) -> int:
    """A place along any dimension whose flat place is outside whatever the others are, and fits 64 bits."""
    return 4 * max(math.prod(shape), 1)


def gather_rows(node: Node, x: Value, dimensions: int, places: Value) -> Value:
    """Elements of the first `dimensions` of x, taken as one, at flat places: [*places, *rest]."""
    rows = reshape(node, x, (math.prod(x.shape[:dimensions]), *x.shape[dimensions:]))
    return node.emit(ai.GatherOp, rows, places, axis=0)


def scatter_rows(
    node: Node, x: Value, dimensions: int, places: Value, updates: Value, reduction: str = "none"
) -> Value:
    """x with `updates` [*places, *rest] put at flat places of its first `dimensions`, taken as one."""
    rest = x.shape[dimensions:]
    rows = reshape(node, x, (math.prod(x.shape[:dimensions]), *rest))
    count = math.prod(updates.shape[: updates.rank - len(rest)])
    shape = updates.shape[: updates.rank - len(rest)]
    flat = reshape(node, broadcast_to(node, places, shape), (count,))
    out = node.emit(ai.ScatterOp, rows, flat, reshape(node, updates, (count, *rest)), reduction=reduction)
    return reshape(node, out, x.shape)
