"""What the operators for attention are made of. Shapes: B batch, H heads, S queries, T keys, D elements of a head."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.activations import affine
from aiopt.frontend.onnx.forms import cast, reshape, scalar, steps, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError
from aiopt.support.types import LOW_FLOATS

EVERYTHING = -1  # a window without a bound


def split_heads(node: Node, x: Value, heads: int) -> Value:
    """[B, S, H * D] -> [B, H, S, D]. Errors: ModelError if the heads do not divide the last dimension."""
    if x.rank != 3 or heads < 1 or x.shape[2] % heads:
        raise ModelError(f"a tensor of shape {list(x.shape)} is not [batch, length, hidden] with {heads} heads")
    parts = (*x.shape[:2], heads, x.shape[2] // heads)
    return transpose(node, reshape(node, x, parts), (0, 2, 1, 3))


def merge_heads(node: Node, x: Value) -> Value:
    """[B, H, S, D] -> [B, S, H * D]."""
    batch, heads, length, size = x.shape
    return reshape(node, transpose(node, x, (0, 2, 1, 3)), (batch, length, heads * size))


def after_past(node: Node, past: Value | None, new: Value) -> Value:
    """[B, H, P, D] and [B, H, S, D] -> [B, H, P + S, D]."""
    return new if past is None else node.emit(ai.ConcatOp, [past, new], axis=2)


def wide_element(x: Value) -> str:
    """The type in which the attention of such tensors is computed: it is rounded once, at the end."""
    return "f32" if x.element in LOW_FLOATS else x.element


def query_by_key(node: Node, query: Value, key: Value) -> Value:
    """query [B, H, S, D], key [B, G, T, D] -> [B, H, S, T]; a key is that of H / G neighbouring heads."""
    turned = transpose(node, key, (0, 1, 3, 2))
    product = node.emit(ai.MatMulOp, _in_groups(node, query, key), turned)
    return reshape(node, product, (*query.shape[:3], key.shape[2]))


def by_value(node: Node, weights: Value, value: Value) -> Value:
    """weights [B, H, S, T], value [B, G, T, D] -> [B, H, S, D]."""
    product = node.emit(ai.MatMulOp, _in_groups(node, weights, value), value)
    return reshape(node, product, (*weights.shape[:3], value.shape[3]))


def _in_groups(node: Node, x: Value, other: Value) -> Value:
    """[B, H, S, D] -> [B, G, H / G * S, D]."""
    batch, heads, length, size = x.shape
    groups = other.shape[1]
    if other.rank != 4 or other.shape[0] != batch or groups < 1 or heads % groups:
        raise ModelError(f"tensors of shapes {list(x.shape)} and {list(other.shape)} do not go together as heads")
    return reshape(node, x, (batch, groups, heads // groups * length, size))


def soft_cap(node: Node, scores: Value, cap: float) -> Value:
    """cap * tanh(scores / cap); as they are without a cap."""
    if cap == 0:
        return scores
    part = node.emit(ai.DivOp, scores, scalar(scores, cap))
    return affine(node, node.emit(ai.TanhOp, part), cap, 0)


def in_window(node: Node, lengths: tuple[int, int], offset: Value | int, before: int, after: int) -> Value:
    """Whether query i sees key j (bool, [.., S, T]): p - before <= j <= p + after where p = i + offset.

    offset: of all, or [B, 1, 1, 1].
    """
    rank = 2 if isinstance(offset, int) else 4
    shift = Value.known(np.array(offset)) if isinstance(offset, int) else offset
    place = node.emit(ai.AddOp, steps(lengths[0], rank - 2, rank), shift)
    key = steps(lengths[1], rank - 1, rank)
    bounds = []
    if after != EVERYTHING:
        bounds.append(node.emit(ai.LessEqualOp, key, affine(node, place, 1, after)))
    if before != EVERYTHING:
        bounds.append(node.emit(ai.LessEqualOp, affine(node, place, 1, -before), key))
    return node.emit(ai.AndOp, *bounds) if len(bounds) == 2 else bounds[0]


def as_bias(node: Node, allowed: Value, like: Value, otherwise: float = -math.inf) -> Value:
    """0 where it is allowed, else a number that is added to scores."""
    return node.emit(ai.SelectOp, allowed, scalar(like, 0), scalar(like, otherwise))


def add_all(node: Node, values: Sequence[Value]) -> Value | None:
    """The sum, None of nothing."""
    total: Value | None = None
    for value in values:
        total = value if total is None else node.emit(ai.AddOp, total, value)
    return total


def rotate(node: Node, x: Value, cos: Value, sin: Value, interleaved: bool) -> Value:
    """Turn pairs of elements of x [B, H, S, D] by angles whose cosines and sines [B or 1, S, R / 2] are given.

    The first R elements of a head take part: the two halves of them are pairs, or neighbours if interleaved.
    Source: Su et al., RoFormer, 2021.
    """
    half = cos.shape[-1]
    if cos.rank != 3 or sin.shape != cos.shape or 2 * half > x.shape[3]:
        raise ModelError(f"cosines {list(cos.shape)} and sines {list(sin.shape)} do not fit heads of {x.shape[3]}")
    cos, sin = (reshape(node, angle, (angle.shape[0], 1, *angle.shape[1:])) for angle in (cos, sin))
    step = 2 if interleaved else 1
    first = _columns(node, x, 0, half, step)
    second = _columns(node, x, 1 if interleaved else half, half, step)
    real = node.emit(ai.SubOp, node.emit(ai.MulOp, cos, first), node.emit(ai.MulOp, sin, second))
    other = node.emit(ai.AddOp, node.emit(ai.MulOp, sin, first), node.emit(ai.MulOp, cos, second))
    if real.shape != first.shape:
        raise ModelError(f"the angles are of {list(cos.shape)}, which do not fit the input {list(x.shape)}")
    if interleaved:
        pairs = [reshape(node, part, (*part.shape, 1)) for part in (real, other)]
        turned = reshape(node, node.emit(ai.ConcatOp, pairs, axis=4), (*real.shape[:3], 2 * half))
    else:
        turned = node.emit(ai.ConcatOp, [real, other], axis=3)
    if 2 * half == x.shape[3]:
        return turned
    return node.emit(ai.ConcatOp, [turned, _columns(node, x, 2 * half, x.shape[3] - 2 * half, 1)], axis=3)


def _columns(node: Node, x: Value, start: int, size: int, step: int) -> Value:
    return node.emit(ai.SliceOp, x, starts=[0, 0, 0, start], sizes=[*x.shape[:3], size], steps=[1, 1, 1, step])


def promoted(node: Node, values: Sequence[Value], element: str) -> list[Value]:
    """All in one element type."""
    return [cast(node, value, element) for value in values]
