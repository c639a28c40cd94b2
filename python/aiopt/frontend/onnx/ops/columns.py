"""Convolutions taken apart: windows as columns (Col2Im), and windows whose taps are moved (DeformConv)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.builder import full
from aiopt.frontend.onnx.forms import cast, matrix_product, reshape, steps, take, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.places import beyond
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.sampling import Axis, sample
from aiopt.frontend.onnx.values import Value
from aiopt.frontend.onnx.windows import Window, read_window
from aiopt.support.errors import ModelError


@onnx_op("Col2Im", since=18)
def _columns_to_image(node: Node) -> Value:
    """Columns [N, C * taps, windows] -> [N, C, *image_shape]: the sum of what windows say of an element."""
    x, image = node.input(0), node.known_ints(1, "image_shape")
    window = read_window(node, image, kernel=node.known_ints(2, "block_shape"))
    rank, taps = len(image), math.prod(window.kernel)
    counts = _window_counts(window, image)
    if x.rank != 3 or x.shape[1] % taps or x.shape[2] != math.prod(counts):
        raise ModelError(f"columns {list(x.shape)} do not fit windows of {window.kernel}, {counts} of them")
    batch, channels = x.shape[0], x.shape[1] // taps
    places = np.zeros((*window.kernel, *counts), np.int64)
    for axis, at in enumerate(_positions(window, counts)):
        place = at.reshape([n if d % rank == axis else 1 for d, n in enumerate(places.shape)])
        inside = (place >= 0) & (place < image[axis])
        places = places + np.where(inside, place * math.prod(image[axis + 1 :]), beyond(image))
    flat = (taps * math.prod(counts), batch * channels)
    updates = transpose(node, reshape(node, x, (batch, channels, taps, x.shape[2])), (2, 3, 0, 1))
    zeros = full((math.prod(image), flat[1]), np.zeros((), x.type.dtype))
    out = node.emit(ai.ScatterOp, zeros, Value.known(places.reshape(-1)), reshape(node, updates, flat), reduction="add")
    return transpose(node, reshape(node, out, (*image, batch, channels)), [rank, rank + 1, *range(rank)])


def _window_counts(window: Window, spatial: Sequence[int]) -> list[int]:
    """How many windows fit along each dimension."""
    rank = len(spatial)
    return [
        (size + window.pads[axis] + window.pads[rank + axis] - extent) // window.strides[axis] + 1
        for axis, (size, extent) in enumerate(zip(spatial, window.extents(), strict=True))
    ]


def _positions(window: Window, counts: Sequence[int]) -> list[np.ndarray]:
    """Of each dimension the elements that taps of windows take: [taps, windows]."""
    return [
        np.arange(window.kernel[axis])[:, None] * window.dilations[axis]
        + np.arange(count) * window.strides[axis]
        - window.pads[axis]
        for axis, count in enumerate(counts)
    ]


@onnx_op("DeformConv", since=19)
def _deformable_convolution(node: Node) -> Value:
    """Taps of a convolution moved by offset [N, groups * taps * rank, *out], times mask [N, groups * taps, *out].

    Elements between those of the image are interpolated, outside they are 0. The sampled taps are the columns of a
    matrix product with the weight.
    """
    x, weight, offset, bias, mask = (*(node.input(at) for at in range(3)), node.optional(3), node.optional(4))
    rank, batch, channels = x.rank - 2, *x.shape[:2]
    if rank < 1 or weight.rank != x.rank:
        raise ModelError(f"input {list(x.shape)} and weight {list(weight.shape)} must have one rank, of 3 or more")
    window = read_window(node, x.shape[2:], kernel=weight.shape[2:])
    group, groups = node.attributes.get_int("group", 1), node.attributes.get_int("offset_group", 1)
    taps, counts = math.prod(window.kernel), _window_counts(window, x.shape[2:])
    wanted = (batch, groups * taps * rank, *counts), (batch, groups * taps, *counts)
    if min(group, groups) < 1 or channels != weight.shape[1] * group or channels % groups or weight.shape[0] % group:
        raise ModelError(f"{group} groups and {groups} offset groups do not divide {channels} channels")
    if offset.shape != wanted[0] or (mask is not None and mask.shape != wanted[1]):
        raise ModelError(f"offset and mask must have the shapes {list(wanted[0])} and {list(wanted[1])}")
    wide = "f64" if x.element == "f64" else "f32"
    sampled = _sampled(node, cast(node, x, wide), cast(node, offset, wide), groups, window, counts)
    if mask is not None:
        weights = reshape(node, cast(node, mask, wide), (batch, groups, 1, taps, math.prod(counts)))
        sampled = node.emit(ai.MulOp, sampled, weights)
    columns = reshape(node, sampled, (batch, group, weight.shape[1] * taps, math.prod(counts)))
    rows = reshape(node, cast(node, weight, wide), (1, group, weight.shape[0] // group, weight.shape[1] * taps))
    out = matrix_product(node, rows, columns, lambda lhs, rhs: node.emit(ai.MatMulOp, lhs, rhs))
    out = reshape(node, out, (batch, weight.shape[0], *counts))
    if bias is not None:
        out = node.emit(ai.AddOp, out, reshape(node, cast(node, bias, wide), (weight.shape[0], *[1] * rank)))
    return cast(node, out, x.element)


def _sampled(node: Node, x: Value, offset: Value, groups: int, window: Window, counts: Sequence[int]) -> Value:
    """[N, groups, channels of a group, taps, windows]"""
    rank, batch, taps, places = x.rank - 2, x.shape[0], math.prod(window.kernel), math.prod(counts)
    several = batch * groups
    moved = reshape(node, offset, (several, taps, rank, places))
    positions = []
    for axis, at in enumerate(_positions(window, counts)):
        lead = [n if d == axis else 1 for d, n in enumerate(window.kernel)]
        start = at.reshape(*lead, *[n if d == axis else 1 for d, n in enumerate(counts)])
        start = np.broadcast_to(start, (*window.kernel, *counts)).reshape(1, taps * places).astype(x.type.dtype)
        part = take(node, moved, [0, 0, axis, 0], [several, taps, 1, places], [1, 1, 1, 1])
        positions.append(node.emit(ai.AddOp, reshape(node, part, (several, taps * places)), Value.known(start)))
    each = x.shape[1] // groups
    rows = transpose(node, reshape(node, x, (several, each, *x.shape[2:])), [0, *range(2, rank + 2), 1])
    axes = [Axis(node, size) for size in x.shape[2:]]
    chosen = [axis.taps(position, "linear") for axis, position in zip(axes, positions, strict=True)]
    out = sample(node, rows, steps(several, 0, 2), chosen)
    return reshape(node, transpose(node, out, (0, 2, 1)), (batch, groups, each, taps, places))
