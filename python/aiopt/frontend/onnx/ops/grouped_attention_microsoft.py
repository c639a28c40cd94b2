"""GroupQueryAttention of ONNX Runtime (domain com.microsoft): attention of decoders with a cache.

Shapes: B batch, H heads, G heads of keys, S new tokens, P places of the past, T of the cache, D elements of a head.
Source: ONNX Runtime's docs/ContribOperators.md.
"""

from __future__ import annotations

import math

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.activations import affine
from aiopt.frontend.onnx.attention import (
    EVERYTHING,
    as_bias,
    by_value,
    in_window,
    merge_heads,
    promoted,
    query_by_key,
    rotate,
    soft_cap,
    split_heads,
    wide_element,
)
from aiopt.frontend.onnx.builder import full
from aiopt.frontend.onnx.forms import broadcast_to, cast, reshape, scalar, steps, take, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import microsoft_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError


@microsoft_op("GroupQueryAttention")
def _group_query_attention(node: Node) -> list[Value]:
    """Inputs: query, key, value [B, S, heads * D] (or all in the first), past keys and values [B, G, P, D], the last
    place of each item [B], the number of places, tables of cosines and sines, places [B, S], bias of the scores.
    Outputs: [B, S, H * D], the cache with the new keys and values."""
    attributes = node.attributes
    if node.optional(11) is not None or attributes.get_int("smooth_softmax", 0):
        raise UnsupportedError("head_sink and smooth_softmax are not supported")
    query, key, value = _heads(node)
    total = node.known_ints(6, "total_sequence_length")[0]
    before = _lengths_of_past(node, query, total)
    if attributes.get_bool("do_rotary", False):
        query, key = _rotated(node, query, key, before)
    key, value = (_cached(node, node.optional(at), new, before, total) for at, new in ((3, key), (4, value)))
    return [_attend(node, query, key, value, before), key, value]


def _heads(node: Node) -> list[Value]:
    """Query [B, H, S, D], key and value [B, G, S, D]."""
    query, key, value = node.input(0), node.optional(1), node.optional(2)
    counts = [
        node.attributes.require(name, node.attributes.get_int(name, None)) for name in ("num_heads", "kv_num_heads")
    ]
    heads, groups = counts
    if heads < 1 or groups < 1 or heads % groups:
        raise ModelError(f"num_heads {heads} must be a multiple of kv_num_heads {groups}")
    if key is not None and value is not None:
        return [split_heads(node, x, count) for x, count in ((query, heads), (key, groups), (value, groups))]
    every = split_heads(node, query, heads + 2 * groups)
    batch, _, length, size = every.shape
    parts = ((0, heads), (heads, groups), (heads + groups, groups))
    return [take(node, every, [0, at, 0, 0], [batch, count, length, size], [1] * 4) for at, count in parts]


def _lengths_of_past(node: Node, query: Value, total: int) -> Value:
    """How many tokens of each item came before, [B, 1] (i64); none at the first call, that of the prompt."""
    batch, _, length, _ = query.shape
    if total == length:
        return Value.known(np.zeros((batch, 1), np.int64))
    last = cast(node, reshape(node, node.input(5), (batch, 1)), "i64")
    return affine(node, last, 1, 1 - length)


def _rotated(node: Node, query: Value, key: Value, before: Value) -> list[Value]:
    places = node.optional(9)
    if places is None:
        places = node.emit(ai.AddOp, before, steps(query.shape[2], 1, 2))
    cos, sin = (node.emit(ai.GatherOp, node.input(at), places, axis=0) for at in (7, 8))
    interleaved = node.attributes.get_bool("rotary_interleaved", False)
    return [rotate(node, x, cos, sin, interleaved) for x in (query, key)]


def _cached(node: Node, past: Value | None, new: Value, before: Value, total: int) -> Value:
    """The past of each item, then what is new, then zeros: [B, G, T, D]."""
    batch, groups, length, size = new.shape
    if total == length and (past is None or past.shape[2] <= length):
        return new
    places = max(total, 0 if past is None else past.shape[2])
    shift = node.emit(ai.SubOp, steps(places, 1, 2), before)  # which new token comes to a place
    inside = node.emit(ai.MinimumOp, node.emit(ai.MaximumOp, shift, scalar(shift, 0)), scalar(shift, length - 1))
    rows = node.emit(ai.AddOp, broadcast_to(node, inside, (batch, places)), affine(node, steps(batch, 0, 2), length, 0))
    table = reshape(node, transpose(node, new, (0, 2, 1, 3)), (batch * length, groups, size))
    moved = transpose(node, node.emit(ai.GatherOp, table, rows, axis=0), (0, 2, 1, 3))
    shift = reshape(node, shift, (batch, 1, places, 1))
    is_old, is_after = (
        node.emit(ai.LessOp, *pair) for pair in ((shift, scalar(shift, 0)), (scalar(shift, length - 1), shift))
    )
    zero = scalar(new, 0)
    old = _padded(node, past, new, places)
    return node.emit(ai.SelectOp, is_old, old, node.emit(ai.SelectOp, is_after, zero, moved))


def _padded(node: Node, past: Value | None, new: Value, places: int) -> Value:
    have = 0 if past is None else past.shape[2]
    rest = full((new.shape[0], new.shape[1], places - have, new.shape[3]), np.zeros((), new.type.dtype))
    if past is None or not have:
        return rest
    return past if have == places else node.emit(ai.ConcatOp, [past, rest], axis=2)


def _attend(node: Node, query: Value, key: Value, value: Value, before: Value) -> Value:
    """Each token sees those before it and itself, of them the last local_window_size if that is given."""
    attributes, element, wide = node.attributes, query.element, wide_element(query)
    scale = attributes.get_float("scale", 0.0) or 1 / math.sqrt(query.shape[3])
    window, bias = attributes.get_int("local_window_size", -1), node.optional(10)
    query, key, value = promoted(node, (query, key, value), wide)
    scores = affine(node, query_by_key(node, query, key), scale, 0)
    scores = soft_cap(node, scores, attributes.get_float("softcap", 0.0))
    offset = reshape(node, before, (query.shape[0], 1, 1, 1))
    reach = window - 1 if window > 0 else EVERYTHING
    seen = in_window(node, (scores.shape[2], scores.shape[3]), offset, reach, 0)
    scores = node.emit(ai.AddOp, scores, as_bias(node, seen, scores))
    if bias is not None:
        scores = node.emit(ai.AddOp, scores, cast(node, bias, wide))
    out = by_value(node, node.emit(ai.SoftmaxOp, scores, axis=3), value)
    return cast(node, merge_heads(node, out), element)
