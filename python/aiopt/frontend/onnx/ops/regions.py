"""Pools of regions of images, whose corners are data: bilinear samples (RoiAlign) or all elements (MaxRoiPool)."""

from __future__ import annotations

from functools import reduce

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast, reshape, scalar, take, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.places import place_along
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.sampling import Tap, sample, terms
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError
from aiopt.support.types import FLOATS


@onnx_op("RoiAlign", since=10)
def _roi_align(node: Node) -> Value:
    """x [N, C, H, W], rois [R, 4] of corners (x1, y1, x2, y2), the image of each [R] -> [R, C, height, width].

    Each bin holds sampling_ratio^2 samples. Before opset 16 pixels are at whole numbers (output_half_pixel).
    """
    x, rois, images, attributes = node.input(0), node.input(1), node.input(2), node.attributes
    _check_regions(x, rois, 4)
    bins = [attributes.get_int("output_height", 1), attributes.get_int("output_width", 1)]
    samples, mode = attributes.get_int("sampling_ratio", 0), attributes.get_string("mode", "avg")
    pixels = attributes.get_string("coordinate_transformation_mode", "half_pixel" if node.opset >= 16 else _OLD)
    if mode not in ("avg", "max") or pixels not in ("half_pixel", _OLD) or min(bins) < 1 or samples < 0:
        raise ModelError(f"mode '{mode}', '{pixels}', bins {bins} or sampling_ratio {samples} make no sense")
    if images.shape != rois.shape[:1]:
        raise ModelError(f"batch_indices {list(images.shape)} must have one image for each of {rois.shape[0]} regions")
    if samples == 0:
        raise UnsupportedError("sampling_ratio=0, as many samples as a region is large, is not compiled")
    wide = "f64" if x.element == "f64" else "f32"
    scaled = node.emit(ai.MulOp, cast(node, rois, wide), _number(attributes.get_float("spatial_scale", 1.0), wide))
    corners = node.emit(ai.SubOp, scaled, scalar(scaled, 0.5 if pixels == "half_pixel" else 0))
    taps = [
        _axis_taps(node, corners, axis, size, count, samples, pixels == _OLD)
        for axis, size, count in zip((1, 0), x.shape[2:], bins, strict=True)
    ]
    rows = cast(node, transpose(node, x, (0, 2, 3, 1)), wide)
    batch = reshape(node, place_along(node, images, x.shape[0]), (*images.shape, 1, 1))
    shape = (rois.shape[0], bins[0], samples, bins[1], samples, x.shape[1])
    if mode == "avg":
        out = node.emit(ai.ReduceMeanOp, reshape(node, sample(node, rows, batch, taps), shape), axes=[2, 4])
    else:  # as ONNX Runtime, where the text is silent: of the weighted elements, not of the samples
        largest = reduce(lambda a, b: node.emit(ai.MaximumOp, a, b), terms(node, rows, batch, taps))
        out = node.emit(ai.ReduceMaxOp, reshape(node, largest, shape), axes=[2, 4])
    out = reshape(node, out, (rois.shape[0], *bins, x.shape[1]))
    return cast(node, transpose(node, out, (0, 3, 1, 2)), x.element)


_OLD = "output_half_pixel"


def _axis_taps(node: Node, corners: Value, axis: int, size: int, bins: int, samples: int, least_one: bool) -> list[Tap]:
    """The two elements on both sides of each sample of an axis (0: x, 1: y) of an image.

    Their places are [R, bins * samples, 1] for y, [R, 1, bins * samples] for x. least_one: no region is smaller.
    """
    count, regions = bins * samples, corners.shape[0]
    start, end = (
        reshape(node, take(node, corners, [0, at], [regions, 1], [1, 1]), (regions, 1, 1)) for at in (axis, axis + 2)
    )
    extent = node.emit(ai.SubOp, end, start)
    extent = node.emit(ai.MaximumOp, extent, scalar(extent, 1)) if least_one else extent
    at = ((np.arange(count) + 0.5) / count).astype(corners.type.dtype)
    along = Value.known(at.reshape((1, count, 1) if axis else (1, 1, count)))
    x = node.emit(ai.AddOp, start, node.emit(ai.MulOp, extent, along))
    inside = node.emit(
        ai.AndOp, node.emit(ai.LessEqualOp, scalar(x, -1), x), node.emit(ai.LessEqualOp, x, scalar(x, size))
    )
    last = scalar(x, size - 1)
    x = node.emit(ai.MinimumOp, node.emit(ai.MaximumOp, x, scalar(x, 0)), last)
    low = node.emit(ai.FloorOp, x)
    high = node.emit(ai.MinimumOp, node.emit(ai.AddOp, low, scalar(low, 1)), last)
    part = node.emit(ai.SubOp, x, low)
    rest = node.emit(ai.SubOp, scalar(part, 1), part)
    return [Tap(cast(node, place, "i64"), weight, inside) for place, weight in ((low, rest), (high, part))]


@onnx_op("MaxRoiPool")
def _max_roi_pool(node: Node) -> Value:
    """x [N, C, H, W], rois [R, 5] of an image and corners (x1, y1, x2, y2), both in -> [R, C, *pooled_shape].

    The largest element of each bin, along one dimension after the other; bins overlap, and an empty one is 0.
    """
    x, rois, attributes = node.input(0), node.input(1), node.attributes
    _check_regions(x, rois, 5)
    bins = attributes.require("pooled_shape", attributes.get_ints("pooled_shape", None))
    if len(bins) != 2 or min(bins) < 1:
        raise ModelError(f"pooled_shape must be two numbers of 1 or more, but is {bins}")
    scale = attributes.get_float("spatial_scale", 1.0)
    regions = rois.shape[0]
    image = cast(node, reshape(node, take(node, rois, [0, 0], [regions, 1], [1, 1]), (regions,)), "i64")
    out = node.emit(ai.GatherOp, x, place_along(node, image, x.shape[0]), axis=0)
    lowest = Value.known(np.array(-np.inf, x.type.dtype))
    empty: Value | None = None
    for axis, at, count in ((3, 1, bins[1]), (2, 2, bins[0])):
        within, none = _bins(node, rois, at, scale, x.shape[axis], count)  # [R, count, size], [R, count]
        lead = (regions, 1, 1, count, x.shape[3]) if axis == 3 else (regions, 1, count, x.shape[2], 1)
        shape = list(out.shape)
        shape.insert(axis, 1)
        chosen = node.emit(ai.SelectOp, reshape(node, within, lead), reshape(node, out, shape), lowest)
        out = node.emit(ai.ReduceMaxOp, chosen, axes=[4 if axis == 3 else 3], keepdims=False)
        none = reshape(node, none, (regions, 1, 1, count) if axis == 3 else (regions, 1, count, 1))
        empty = none if empty is None else node.emit(ai.OrOp, empty, none)
    assert empty is not None, "there are two dimensions"
    return node.emit(ai.SelectOp, empty, scalar(out, 0), out)


def _bins(node: Node, rois: Value, at: int, scale: float, size: int, count: int) -> tuple[Value, Value]:
    """Which of an axis' elements are in which bin [R, count, size], and which bins are empty [R, count]."""
    regions = rois.shape[0]
    start, end = (
        _rounded(node, node.emit(ai.MulOp, take(node, rois, [0, column], [regions, 1], [1, 1]), scalar(rois, scale)))
        for column in (at, at + 2)
    )
    extent = node.emit(ai.AddOp, node.emit(ai.SubOp, end, start), scalar(start, 1))
    width = node.emit(ai.DivOp, node.emit(ai.MaximumOp, extent, scalar(extent, 1)), scalar(extent, count))
    edges = []
    for op, first in ((ai.FloorOp, 0), (ai.CeilOp, 1)):
        number = Value.known(np.arange(first, first + count, dtype=rois.type.dtype).reshape(1, count))
        edge = node.emit(ai.AddOp, node.emit(op, node.emit(ai.MulOp, number, width)), start)
        edges.append(node.emit(ai.MinimumOp, node.emit(ai.MaximumOp, edge, scalar(edge, 0)), scalar(edge, size)))
    low, high = (reshape(node, edge, (regions, count, 1)) for edge in edges)
    place = Value.known(np.arange(size, dtype=rois.type.dtype).reshape(1, 1, size))
    within = node.emit(ai.AndOp, node.emit(ai.LessEqualOp, low, place), node.emit(ai.LessOp, place, high))
    return within, node.emit(ai.LessEqualOp, edges[1], edges[0])


def _rounded(node: Node, x: Value) -> Value:
    """To the nearest whole number, halves away from zero."""
    size = node.emit(ai.FloorOp, node.emit(ai.AddOp, node.emit(ai.AbsOp, x), scalar(x, 0.5)))
    return node.emit(ai.SelectOp, node.emit(ai.LessOp, x, scalar(x, 0)), node.emit(ai.NegOp, size), size)


def _check_regions(x: Value, rois: Value, columns: int) -> None:
    if x.rank != 4 or rois.rank != 2 or rois.shape[1] != columns:
        raise ModelError(f"the input must be [N, C, H, W] and rois [R, {columns}], but are {x.type} and {rois.type}")
    if x.element not in FLOATS or 0 in x.shape:
        raise UnsupportedError("regions of tensors of floats with elements only are compiled")


def _number(value: float, element: str) -> Value:
    return Value.known(np.array(value, np.float64 if element == "f64" else np.float32))
