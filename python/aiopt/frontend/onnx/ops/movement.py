"""Operators that place elements: joins, parts and orders."""

from collections.abc import Sequence
from itertools import pairwise

from aiopt.dialects import ai
from aiopt.dialects.ext import MAX_VARIADIC
from aiopt.frontend.onnx.forms import normal_axes, normal_axis, reshape, take, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError


@onnx_op("Transpose")
def _transpose(node: Node) -> Value:
    x = node.input(0)
    return transpose(node, x, node.attributes.get_ints("perm", list(reversed(range(x.rank)))))


@onnx_op("Concat")
def _concat(node: Node) -> Value:
    return concat(node, node.variadic())


def concat(node: Node, values: Sequence[Value]) -> Value:
    """Joined along the node's axis; more tensors than the op takes become a tree."""
    axis = normal_axis(node.attributes.require("axis", node.attributes.get_int("axis", None)), values[0].rank)
    while len(values) > 1:
        chunks = [values[at : at + MAX_VARIADIC] for at in range(0, len(values), MAX_VARIADIC)]
        values = [node.emit(ai.ConcatOp, chunk, axis=axis) if len(chunk) > 1 else chunk[0] for chunk in chunks]
    return values[0]


@onnx_op("Expand", since=8)
def _expand(node: Node) -> Value:
    """x and the shape broadcast against each other: a 1 in the shape keeps x's size."""
    x, asked = node.input(0), node.known_ints(1, "shape")
    if min(asked, default=0) < 0:
        raise ModelError(f"the shape {asked} has negative sizes")
    rank = max(x.rank, len(asked))
    ours, theirs = (1,) * (rank - x.rank) + x.shape, [1] * (rank - len(asked)) + asked
    shape = [size if other == 1 else other for size, other in zip(ours, theirs, strict=True)]
    return x if tuple(shape) == x.shape else node.emit(ai.BroadcastToOp, x, shape=shape)


@onnx_op("Slice", until=9)
def _slice_by_attributes(node: Node) -> Value:
    attributes = node.attributes
    starts = attributes.require("starts", attributes.get_ints("starts", None))
    ends = attributes.require("ends", attributes.get_ints("ends", None))
    return _slice(node, starts, ends, attributes.get_ints("axes", None), None)


@onnx_op("Slice", since=10)
def _slice_by_inputs(node: Node) -> Value:
    starts, ends = node.known_ints(1, "starts"), node.known_ints(2, "ends")
    return _slice(node, starts, ends, node.optional_ints(3, "axes"), node.optional_ints(4, "steps"))


def _slice(
    node: Node, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int] | None, steps: Sequence[int] | None
) -> Value:
    x = node.input(0)
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise ModelError("starts, ends, axes and steps must have one number per sliced axis")
    normal_axes(axes, x.rank)
    begins, sizes, strides = [0] * x.rank, list(x.shape), [1] * x.rank
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        begins[axis], sizes[axis] = _clamp(start, end, step, x.shape[axis])
        strides[axis] = step
    return take(node, x, begins, sizes, strides)


def _clamp(start: int, end: int, step: int, size: int) -> tuple[int, int]:
    """First element and number of elements of start:end:step. Source: ONNX Slice-13, which clamps unlike Python where
    a negative step starts before the first element."""
    if step == 0:
        raise ModelError("a step of 0 is not allowed")
    low, high = (0, size) if step > 0 else (-1, size - 1)
    start = min(max(start + size if start < 0 else start, 0), high)
    end = min(max(end + size if end < 0 else end, low), high)
    count = max(0, -((start - end) // step)) if size else 0
    return (start, count) if count else (0, 0)


@onnx_op("Split", until=12)
def _split_by_attribute(node: Node) -> list[Value]:
    return _split(node, node.attributes.get_ints("split", None))


@onnx_op("Split", since=13, until=17)
def _split_by_input(node: Node) -> list[Value]:
    return _split(node, node.optional_ints(1, "split"))


@onnx_op("Split", since=18)
def _split_uneven(node: Node) -> list[Value]:
    """num_outputs: equal parts, rounded up, of which the last may be smaller."""
    sizes, parts = node.optional_ints(1, "split"), node.attributes.get_int("num_outputs", None)
    if sizes is None and parts is not None:
        if parts != len(node.outputs):
            raise ModelError(f"num_outputs is {parts}, but the node has {len(node.outputs)} outputs")
        x = node.input(0)
        whole = x.shape[normal_axis(node.attributes.get_int("axis", 0), x.rank)]
        part = -(-whole // parts)
        sizes = [min(part, max(whole - part * index, 0)) for index in range(parts)]
    return _split(node, sizes)


def _split(node: Node, sizes: Sequence[int] | None) -> list[Value]:
    x, parts = node.input(0), len(node.outputs)
    axis = normal_axis(node.attributes.get_int("axis", 0), x.rank)
    whole = x.shape[axis]
    if sizes is None:
        if whole % parts:
            raise ModelError(f"{whole} elements along axis {axis} cannot be split into {parts} equal parts")
        sizes = [whole // parts] * parts
    if len(sizes) != parts or min(sizes) < 0 or sum(sizes) != whole:
        raise ModelError(f"split {list(sizes)} does not give {parts} outputs that add up to {whole}")
    values, at = [], 0
    for size in sizes:
        values.append(_range(node, x, axis, at, size, 1))
        at += size
    return values


@onnx_op("Gather")
def _gather(node: Node) -> Value:
    """Known indices that step evenly are a slice; known ones of known data are taken at once."""
    x, given = node.input(0), node.input(1)
    axis = normal_axis(node.attributes.get_int("axis", 0), x.rank)
    if given.element not in ("i32", "i64"):
        raise ModelError(f"indices must be i32 or i64, not {given.element}")
    if given.array is None:
        return node.emit(ai.GatherOp, x, given, axis=axis)
    indices, size = given.array, x.shape[axis]
    if indices.size and not (-size <= indices.min() and indices.max() < size):
        raise ModelError(f"an index is out of range: axis {axis} has {size} elements")
    flat = [int(index) % size for index in indices.reshape(-1)]
    step = flat[1] - flat[0] if len(flat) > 1 else 1
    even = all(after - before == step for before, after in pairwise(flat))
    if x.array is not None or not even or step == 0:
        return node.emit(ai.GatherOp, x, given, axis=axis)
    part = _range(node, x, axis, flat[0] if flat else 0, len(flat), step)
    return reshape(node, part, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def _range(node: Node, x: Value, axis: int, start: int, size: int, step: int) -> Value:
    """Elements along one axis, all of the others."""
    starts, sizes, steps = [0] * x.rank, list(x.shape), [1] * x.rank
    starts[axis], sizes[axis], steps[axis] = start, size, step
    return take(node, x, starts, sizes, steps)
