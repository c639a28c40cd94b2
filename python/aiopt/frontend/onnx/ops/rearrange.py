"""Operators that rearrange blocks, repeat, mask and pad, and running totals."""

from collections.abc import Sequence

import numpy as np

from aiopt.dialects import ai
from aiopt.dialects.ai.padding import PAD_MODES
from aiopt.dialects.ext import Operation
from aiopt.frontend.onnx.builder import known, require_small
from aiopt.frontend.onnx.forms import (
    broadcast_to,
    normal_axes,
    normal_axis,
    reshape,
    scalar,
    take,
    transpose,
)
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import Handler, onnx_op
from aiopt.frontend.onnx.tensors import element_type
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError
from aiopt.support.types import numpy_dtype


def _block(node: Node, divisors: Sequence[int]) -> tuple[Value, int]:
    """The input [N, C, H, W] and the block size, which divides the given dimensions."""
    x = node.input(0)
    size = node.attributes.require("blocksize", node.attributes.get_int("blocksize", None))
    if x.rank != 4 or size < 1 or any(x.shape[axis] % size for axis in divisors):
        raise ModelError(f"blocksize {size} does not fit the input {list(x.shape)}")
    return x, size


def _block_mode(node: Node, since: int) -> str:
    mode = node.attributes.get_string("mode", "DCR") if node.opset >= since else "DCR"
    if mode not in ("DCR", "CRD"):
        raise ModelError(f"mode must be DCR or CRD, not '{mode}'")
    return mode


@onnx_op("DepthToSpace")
def _depth_to_space(node: Node) -> Value:
    """Channels to blocks of pixels; the attribute mode came with opset 11."""
    x, size = _block(node, [])
    n, c, h, w = x.shape
    if c % size**2:
        raise ModelError(f"blocksize {size} does not fit the {c} channels")
    depth = c // size**2
    if _block_mode(node, 11) == "DCR":
        parts, order = (n, size, size, depth, h, w), (0, 3, 4, 1, 5, 2)
    else:
        parts, order = (n, depth, size, size, h, w), (0, 1, 4, 2, 5, 3)
    return reshape(node, transpose(node, reshape(node, x, parts), order), (n, depth, h * size, w * size))


@onnx_op("SpaceToDepth")
def _space_to_depth(node: Node) -> Value:
    """Blocks of pixels to channels; the attribute mode came with opset 28."""
    x, size = _block(node, [2, 3])
    n, c, h, w = x.shape
    order = (0, 3, 5, 1, 2, 4) if _block_mode(node, 28) == "DCR" else (0, 1, 3, 5, 2, 4)
    parts = reshape(node, x, (n, c, h // size, size, w // size, size))
    return reshape(node, transpose(node, parts, order), (n, c * size**2, h // size, w // size))


@onnx_op("Tile")
def _tile(node: Node) -> Value:
    x, repeats = node.input(0), node.known_ints(1, "repeats")
    if len(repeats) != x.rank or min(repeats, default=0) < 0:
        raise ModelError(f"repeats must be {x.rank} numbers of 0 or more, but are {repeats}")
    apart = [size for pair in zip([1] * x.rank, x.shape, strict=True) for size in pair]
    wide = [size for pair in zip(repeats, x.shape, strict=True) for size in pair]
    spread = broadcast_to(node, reshape(node, x, apart), wide)
    return reshape(node, spread, [count * size for count, size in zip(repeats, x.shape, strict=True)])


@onnx_op("Trilu", since=14)
def _trilu(node: Node) -> Value:
    """The upper or lower triangle of matrices from diagonal k on, else 0."""
    x, k = node.input(0), node.optional_ints(1, "k") or [0]
    if x.rank < 2 or len(k) != 1:
        raise ModelError(f"the input must be matrices and k a number, but are {list(x.shape)} and {k}")
    triangle = np.triu if node.attributes.get_bool("upper", True) else np.tril
    mask = triangle(np.ones(x.shape[-2:], np.bool_), _diagonal(k[0], *x.shape[-2:]))
    return node.emit(ai.SelectOp, known(mask), x, scalar(x, 0))


def _diagonal(k: int, rows: int, columns: int) -> int:
    """The nearest diagonal to the k-th that is in a matrix or next to it; numpy refuses numbers of 64 bits."""
    return min(max(k, -rows), columns)


@onnx_op("EyeLike", since=9)
def _eye_like(node: Node) -> Value:
    x, dtype = node.input(0), node.attributes.get_int("dtype", None)
    if x.rank != 2:
        raise ModelError(f"the input must be a matrix, but has shape {list(x.shape)}")
    element = x.element if dtype is None else element_type(dtype, "the result")
    require_small(x.shape, element)
    eye = np.eye(*x.shape, k=_diagonal(node.attributes.get_int("k", 0), *x.shape), dtype=np.bool_)
    return known(eye.astype(numpy_dtype(element)), node.outputs[0])


@onnx_op("Pad", until=10)
def _pad_by_attributes(node: Node) -> Value:
    attributes = node.attributes
    pads = attributes.require("pads", attributes.get_ints("pads", None))
    value = attributes.get_float("value", 0.0)
    return _pad(node, pads, range(node.input(0).rank), scalar(node.input(0), value))


@onnx_op("Pad", since=11)
def _pad_by_inputs(node: Node) -> Value:
    """axes came with opset 18, mode wrap with 19."""
    x, value = node.input(0), node.optional(2)
    pads, axes = node.known_ints(1, "pads"), node.optional_ints(3, "axes") if node.opset >= 18 else None
    if value is not None and value.type.size != 1:
        raise ModelError(f"constant_value must be one number, but has shape {list(value.shape)}")
    given = range(x.rank) if axes is None else [normal_axis(axis, x.rank) for axis in axes]
    normal_axes(given, x.rank)
    return _pad(node, pads, given, None if value is None else reshape(node, value, ()))


def _pad(node: Node, pads: Sequence[int], axes: Sequence[int], value: Value | None) -> Value:
    """Negative pads cut; the cuts come first."""
    x, mode = node.input(0), node.attributes.get_string("mode", "constant")
    if mode not in PAD_MODES[: 4 if node.opset >= 19 else 3] or len(pads) != 2 * len(axes):
        raise ModelError(f"mode '{mode}' with {len(pads)} pads for {len(axes)} axes is not possible")
    low, high = [0] * x.rank, [0] * x.rank
    for axis, before, after in zip(axes, pads, pads[len(axes) :], strict=False):
        low[axis], high[axis] = before, after
    cut = [(max(-a, 0), max(-b, 0)) for a, b in zip(low, high, strict=True)]
    sizes = [size - a - b for size, (a, b) in zip(x.shape, cut, strict=True)]
    if min(sizes, default=0) < 0:
        raise ModelError(f"pads {list(pads)} cut more than the input {list(x.shape)} has")
    inner = take(node, x, [a if size else 0 for size, (a, _) in zip(sizes, cut, strict=True)], sizes, [1] * x.rank)
    low, high = [max(a, 0) for a in low], [max(b, 0) for b in high]
    if not any(low) and not any(high):
        return inner
    return node.emit(ai.PadOp, inner, value if mode == "constant" else None, low=low, high=high, mode=mode)


@onnx_op("CenterCropPad", since=18)
def _center_crop_pad(node: Node) -> Value:
    """Cut or padded with 0 to the given sizes of the given axes, the odd element at the end."""
    x, sizes = node.input(0), node.known_ints(1, "shape")
    axes = [normal_axis(axis, x.rank) for axis in node.attributes.get_ints("axes", list(range(x.rank)))]
    normal_axes(axes, x.rank)
    if len(axes) != len(sizes) or min(sizes, default=0) < 0:
        raise ModelError(f"shape must be {len(axes)} numbers of 0 or more, but is {sizes}")
    shape = list(x.shape)
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    kept = [min(have, want) for have, want in zip(x.shape, shape, strict=True)]
    starts = [(have - keep) // 2 if keep else 0 for have, keep in zip(x.shape, kept, strict=True)]
    part = take(node, x, starts, kept, [1] * x.rank)
    low = [(want - keep) // 2 for want, keep in zip(shape, kept, strict=True)]
    if tuple(kept) == tuple(shape):
        return part
    high = [want - keep - before for want, keep, before in zip(shape, kept, low, strict=True)]
    return node.emit(ai.PadOp, part, None, low=low, high=high)


def _running(op: type[Operation], start: float) -> Handler:
    """reverse: from the end; exclusive: without the element itself."""

    def handler(node: Node) -> Value:
        x, attributes = node.input(0), node.attributes
        at = node.known_ints(1, "axis")
        if len(at) != 1:
            raise ModelError(f"axis must be one number, but is {at}")
        axis = normal_axis(at[0], x.rank)
        size, back = x.shape[axis], attributes.get_bool("reverse", False)
        if not size:
            return x
        value = node.emit(op, _backwards(node, x, axis) if back else x, axis=axis)
        if attributes.get_bool("exclusive", False):
            sizes = [n - 1 if a == axis else n for a, n in enumerate(x.shape)]
            shorter = take(node, value, [0] * x.rank, sizes, [1] * x.rank)
            low = [int(a == axis) for a in range(x.rank)]
            value = node.emit(ai.PadOp, shorter, scalar(x, start), low=low, high=[0] * x.rank)
        return _backwards(node, value, axis) if back else value

    return handler


def _backwards(node: Node, x: Value, axis: int) -> Value:
    starts = [size - 1 if at == axis else 0 for at, size in enumerate(x.shape)]
    return take(node, x, starts, x.shape, [-1 if at == axis else 1 for at in range(x.rank)])


onnx_op("CumSum", since=11)(_running(ai.CumSumOp, 0))
onnx_op("CumProd", since=26)(_running(ai.CumProdOp, 1))
