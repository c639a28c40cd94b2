"""Pooling over windows and over all spatial dimensions."""

import math

import numpy as np

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation
from aiopt.frontend.onnx.builder import full, known
from aiopt.frontend.onnx.forms import cast, reshape, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.frontend.onnx.windows import read_window, round_up
from aiopt.support.errors import ModelError


@onnx_op("MaxPool")
def _max_pool(node: Node) -> list[Value]:
    """Output 1 holds the flat place of each maximum in the input, of the first where several are equal."""
    x = _spatial_input(node)
    plain = read_window(node, x.shape[2:])
    window = round_up(plain, x.shape[2:]) if node.attributes.get_bool("ceil_mode", False) else plain
    names = {"kernel": window.kernel, "strides": window.strides, "pads": window.pads, "dilations": window.dilations}
    out = node.emit(ai.MaxPoolOp, x, **names)
    if not any(node.outputs[1:]):
        node.attributes.skip("storage_order")  # of Indices
        return [out]
    return [out, _in_the_whole(node, x, node.emit(ai.MaxPoolPlacesOp, x, **names))]


def _in_the_whole(node: Node, x: Value, places: Value) -> Value:
    """Places in a channel as such in all of x: channels come one after the other, columns first by storage_order."""
    pixels, images, spatial = math.prod(x.shape[2:]), math.prod(x.shape[:2]), x.shape[2:]
    if node.attributes.get_bool("storage_order", False):
        total: Value = scalar(places, 0)
        for axis, size in enumerate(spatial):  # the first dimension changes fastest
            at = node.emit(ai.DivOp, places, scalar(places, math.prod(spatial[axis + 1 :])))
            at = node.emit(ai.RemainderOp, at, scalar(places, size))
            total = node.emit(ai.AddOp, total, node.emit(ai.MulOp, at, scalar(places, math.prod(spatial[:axis]))))
        places = total
    offsets = np.arange(images).reshape(*x.shape[:2], *[1] * len(spatial)) * pixels
    return node.emit(ai.AddOp, places, known(offsets))


@onnx_op("MaxUnpool", since=9)
def _max_unpool(node: Node) -> Value:
    """Zeros, but for the elements of x at the flat places that input 1 holds; output_shape adds zeros at the ends."""
    x, places, asked = _spatial_input(node), node.input(1), node.optional_ints(2, "output_shape")
    rank = x.rank - 2
    kernel = node.attributes.require("kernel_shape", node.attributes.get_ints("kernel_shape", None))
    strides = node.attributes.get_ints("strides", [1] * rank)
    pads = node.attributes.get_ints("pads", [0] * 2 * rank)
    if places.shape != x.shape or (len(kernel), len(strides), len(pads)) != (rank, rank, 2 * rank):
        raise ModelError(f"places {list(places.shape)}, kernel_shape, strides and pads must fit {list(x.shape)}")
    shape = list(x.shape[:2])
    for axis, size in enumerate(x.shape[2:]):
        shape.append((size - 1) * strides[axis] - pads[axis] - pads[rank + axis] + kernel[axis])
    zeros = full((math.prod(shape),), np.zeros((), x.type.dtype))
    flat = (x.type.size,)
    out = node.emit(ai.ScatterOp, zeros, reshape(node, places, flat), reshape(node, x, flat))
    out = reshape(node, out, shape)
    if asked is None or tuple(asked) == out.shape:
        return out
    more = [want - have for want, have in zip(asked, out.shape, strict=True)]
    if min(more) < 0:
        raise ModelError(f"output_shape {asked} is smaller than {list(out.shape)}, which the window gives")
    return node.emit(ai.PadOp, out, None, low=[0] * x.rank, high=more)


@onnx_op("AveragePool")
def _average_pool(node: Node) -> Value:
    return average_pool(node, _spatial_input(node))


def average_pool(node: Node, x: Value, *, count_whole: bool = False) -> Value:
    """The means of the windows that the node's attributes describe, of x [N, C, *spatial].

    With ceil_mode the windows at the end hang over the padding, where nothing is counted, unless count_whole.
    """
    window, counted = read_window(node, x.shape[2:]), node.attributes.get_bool("count_include_pad", False)
    rank, spatial = x.rank - 2, x.shape[2:]
    up = round_up(window, spatial) if node.attributes.get_bool("ceil_mode", False) else window
    pads = up.pads
    if counted and pads != window.pads and not count_whole:
        low, high = [0, 0, *window.pads[:rank]], [0, 0, *window.pads[rank:]]
        x = node.emit(ai.PadOp, x, None, low=low, high=high)
        pads = [after - before for after, before in zip(pads, window.pads, strict=True)]
        counted = False
    dilations = window.dilations if any(dilation != 1 for dilation in window.dilations) else None
    names = {"kernel": window.kernel, "strides": window.strides, "pads": pads, "dilations": dilations}
    return node.emit(ai.AvgPoolOp, x, count_include_pad=counted, **names)


@onnx_op("LpPool")
def _lp_pool(node: Node) -> Value:
    """(sum of |x|^p over the window)^(1/p), in f32 or f64."""
    x, p = _spatial_input(node), node.attributes.get_int("p", 2)
    window = read_window(node, x.shape[2:])
    up = round_up(window, x.shape[2:]) if node.attributes.get_bool("ceil_mode", False) else window
    dilations = window.dilations if any(dilation != 1 for dilation in window.dilations) else None
    names = {"kernel": window.kernel, "strides": window.strides, "pads": up.pads, "dilations": dilations}
    powers = _power(node, x, p)
    means = node.emit(ai.AvgPoolOp, powers, count_include_pad=True, **names)
    return _root(node, node.emit(ai.MulOp, means, scalar(means, math.prod(window.kernel))), p, x.element)


@onnx_op("GlobalLpPool")
def _global_lp_pool(node: Node) -> Value:
    x, p = _spatial_input(node), node.attributes.get_int("p", 2)
    total = node.emit(ai.ReduceSumOp, _power(node, x, p), axes=list(range(2, x.rank)), keepdims=True)
    return _root(node, total, p, x.element)


def _power(node: Node, x: Value, p: int) -> Value:
    if p < 1:
        raise ModelError(f"p must be 1 or more, but is {p}")
    size = node.emit(ai.AbsOp, x if x.element == "f64" else cast(node, x, "f32"))
    return size if p == 1 else node.emit(ai.PowOp, size, scalar(size, p))


def _root(node: Node, total: Value, p: int, element: str) -> Value:
    return cast(node, total if p == 1 else node.emit(ai.PowOp, total, scalar(total, 1 / p)), element)


@onnx_op("GlobalAveragePool")
def _global_average_pool(node: Node) -> Value:
    return _over_space(node, ai.ReduceMeanOp)


@onnx_op("GlobalMaxPool")
def _global_max_pool(node: Node) -> Value:
    return _over_space(node, ai.ReduceMaxOp)


def _over_space(node: Node, op: type[Operation]) -> Value:
    x = _spatial_input(node)
    return node.emit(op, x, axes=list(range(2, x.rank)), keepdims=True)


def _spatial_input(node: Node) -> Value:
    x = node.input(0)
    if x.rank < 3:
        raise ModelError(f"the input must have the shape [N, C, spatial...], but has {list(x.shape)}")
    return x
