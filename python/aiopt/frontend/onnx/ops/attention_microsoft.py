"""Attention of ONNX Runtime (domain com.microsoft): Attention, MultiHeadAttention, RotaryEmbedding.

Shapes: B batch, H heads, P keys of the past, S queries, L new keys, T = P + L, D elements of a head.
Source: ONNX Runtime's docs/ContribOperators.md.
"""

import math
from collections.abc import Sequence

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.activations import affine
from aiopt.frontend.onnx.attention import (
    EVERYTHING,
    add_all,
    after_past,
    as_bias,
    by_value,
    in_window,
    merge_heads,
    promoted,
    query_by_key,
    rotate,
    split_heads,
    wide_element,
)
from aiopt.frontend.onnx.forms import cast, reshape, scalar, steps, take, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import microsoft_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError

_HIDDEN = -10000.0  # what is added to the score of a hidden key


@microsoft_op("Attention")
def _attention(node: Node) -> list[Value]:
    """Inputs: input [B, S, K], weights and bias of query, key and value side by side, mask, past [2, B, H, P, D], bias
    of the scores. Outputs: [B, S, H * D], the keys and values with the past."""
    x, weights, bias, past = node.input(0), node.input(1), node.optional(2), node.optional(4)
    _refuse(node, {6: "past_sequence_length"}, ("do_rotary", "past_present_share_buffer", "rotary_embedding_dim"))
    heads = node.attributes.require("num_heads", node.attributes.get_int("num_heads", None))
    if x.rank != 3 or weights.rank != 2:
        raise ModelError(f"input {list(x.shape)} and weights {list(weights.shape)} must have ranks 3 and 2")
    product = node.emit(ai.MatMulOp, x, weights)
    product = product if bias is None else node.emit(ai.AddOp, product, bias)
    sizes = node.attributes.get_ints("qkv_hidden_sizes", [weights.shape[1] // 3] * 3)
    if len(sizes) != 3 or sum(sizes) != weights.shape[1]:
        raise ModelError(f"qkv_hidden_sizes {sizes} must be three that add up to {weights.shape[1]}")
    query, key, value = (split_heads(node, part, heads) for part in _parts(node, product, sizes))
    if past is not None:
        old = [_item(node, past, index) for index in range(2)]
        key, value = after_past(node, old[0], key), after_past(node, old[1], value)
    out = _attend(node, query, key, value, node.optional(3), node.optional(5))
    if not any(node.outputs[1:]):
        return [out]
    return [out, node.emit(ai.ConcatOp, [reshape(node, kept, (1, *kept.shape)) for kept in (key, value)], axis=0)]


@microsoft_op("MultiHeadAttention")
def _multi_head_attention(node: Node) -> list[Value]:
    """Inputs: query, key, value, bias, mask of the keys, bias of the scores, keys and values of the past.

    Query, key and value as [B, S, H * D], or in one tensor: [B, S, H, 3, D], or key and value [B, L, H, 2, D]; keys and
    values that stay the same, [B, H, L, D], take no bias. Outputs: [B, S, H * D], keys and values with the past.
    """
    _refuse(node, {8: "past_sequence_length", 9: "cache_indirection"}, ())
    heads = node.attributes.require("num_heads", node.attributes.get_int("num_heads", None))
    query, key, value = _with_biases(node, _unpacked(node), node.optional(3))
    query, key, value = (split_heads(node, x, heads) if x.rank == 3 else x for x in (query, key, value))
    key, value = after_past(node, node.optional(6), key), after_past(node, node.optional(7), value)
    return [_attend(node, query, key, value, node.optional(4), node.optional(5)), key, value]


def _refuse(node: Node, inputs: dict[int, str], flags: Sequence[str]) -> None:
    """Errors: UnsupportedError for inputs and attributes that no CPU of ONNX Runtime reads either."""
    for index, name in inputs.items():
        if node.optional(index) is not None:
            raise UnsupportedError(f"input {index} ({name}) is not supported")
    for name in flags:
        if node.attributes.get_int(name, 0):
            raise UnsupportedError(f"attribute '{name}' is not supported")


def _unpacked(node: Node) -> list[Value]:
    """Query, key and value as [B, S, hidden], or [B, H, L, D] where they are given so."""
    query, key, value = node.input(0), node.optional(1), node.optional(2)
    if query.rank == 5:
        return _unstacked(node, query, 3)
    if key is None:
        raise ModelError("without a key the query must hold all three as [batch, length, heads, 3, size]")
    if key.rank == 5:
        return [query, *_unstacked(node, key, 2)]
    if value is None:
        raise ModelError("input 2 (value) is missing")
    return [query, key, value]


def _unstacked(node: Node, x: Value, count: int) -> list[Value]:
    """[B, L, H, count, D] -> count times [B, L, H * D]."""
    batch, length, heads, have, size = x.shape
    if have != count:
        raise ModelError(f"a tensor of shape {list(x.shape)} must have {count} as its fourth dimension")
    parts = transpose(node, x, (3, 0, 1, 2, 4))
    return [reshape(node, _item(node, parts, index), (batch, length, heads * size)) for index in range(count)]


def _item(node: Node, x: Value, index: int) -> Value:
    """x[index]"""
    part = take(node, x, [index] + [0] * (x.rank - 1), [1, *x.shape[1:]], [1] * x.rank)
    return reshape(node, part, x.shape[1:])


def _parts(node: Node, x: Value, sizes: Sequence[int]) -> list[Value]:
    """The last dimension cut into pieces of these sizes."""
    ends = np.cumsum([0, *sizes]).tolist()
    lead, ones = x.shape[:-1], [1] * x.rank
    return [take(node, x, [*[0] * len(lead), end], [*lead, size], ones) for end, size in zip(ends, sizes, strict=False)]


def _with_biases(node: Node, values: Sequence[Value], bias: Value | None) -> list[Value]:
    """One bias holds those of all three, one after the other."""
    if bias is None:
        return list(values)
    query = values[0].shape[2]
    sizes = [query, query, bias.type.size - 2 * query]
    biases = _parts(node, bias, sizes)
    return [node.emit(ai.AddOp, x, b) if x.rank == 3 else x for x, b in zip(values, biases, strict=True)]


def _attend(node: Node, query: Value, key: Value, value: Value, mask: Value | None, bias: Value | None) -> Value:
    """softmax(scale * query * key + what masks and bias add) * value, merged to [B, S, H * D]."""
    attributes, element, wide = node.attributes, query.element, wide_element(query)
    hidden = attributes.get_float("mask_filter_value", _HIDDEN)
    scale = attributes.get_float("scale", 0.0) or 1 / math.sqrt(query.shape[3])
    query, key, value = promoted(node, (query, key, value), wide)
    scores = affine(node, query_by_key(node, query, key), scale, 0)
    terms = [] if mask is None else [as_bias(node, _shown(node, mask, scores), scores, hidden)]
    if attributes.get_bool("unidirectional", False):
        lengths = (scores.shape[2], scores.shape[3])
        seen = in_window(node, lengths, lengths[1] - lengths[0], EVERYTHING, 0)
        terms.append(as_bias(node, seen, scores, float(np.finfo(scores.type.dtype).min)))
    if bias is not None:
        terms.append(cast(node, bias, wide))
    added = add_all(node, terms)
    scores = scores if added is None else node.emit(ai.AddOp, scores, added)
    out = by_value(node, node.emit(ai.SoftmaxOp, scores, axis=3), value)
    return cast(node, merge_heads(node, out), element)


def _shown(node: Node, mask: Value, scores: Value) -> Value:
    """Which keys a query sees (bool, broadcasts to the scores), by the rank of the mask.

    [B]: the number of keys; [2 * B]: those and the first; [3 * B + 2]: those and where queries and keys would begin if
    they were packed without padding; [B, T] and [B, S, T]: above 0; [B, 1, M, M]: a part of it.
    """
    batch, _, length, keys = scores.shape
    if mask.rank == 1:
        return _in_span(node, mask, batch, keys)
    if mask.rank == 4:
        start = [0, 0, keys - length, 0]
        mask = take(node, mask, start, [mask.shape[0], mask.shape[1], length, keys], [1] * 4)
    shapes = {2: (mask.shape[0], 1, 1, mask.shape[-1]), 3: (mask.shape[0], 1, *mask.shape[1:]), 4: mask.shape}
    if mask.rank not in shapes or mask.shape[-1] != keys:
        raise ModelError(f"a mask of shape {list(mask.shape)} does not fit scores of {list(scores.shape)}")
    return node.emit(ai.LessOp, scalar(mask, 0), reshape(node, mask, shapes[mask.rank]))


def _in_span(node: Node, mask: Value, batch: int, keys: int) -> Value:
    if mask.type.size not in (batch, 2 * batch, 3 * batch + 2):
        raise ModelError(f"a mask of {mask.type.size} numbers does not fit a batch of {batch}")
    place = cast(node, steps(keys, 3, 4), mask.element)
    ends = reshape(node, take(node, mask, [0], [batch], [1]), (batch, 1, 1, 1))
    shown = node.emit(ai.LessOp, place, ends)
    if mask.type.size != 2 * batch:
        return shown
    starts = reshape(node, take(node, mask, [batch], [batch], [1]), (batch, 1, 1, 1))
    return node.emit(ai.AndOp, shown, node.emit(ai.LessEqualOp, starts, place))


@microsoft_op("RotaryEmbedding")
def _rotary_embedding(node: Node) -> Value:
    """Inputs: [B, S, H * D] or [B, H, S, D], places [B, S] or the first of all, tables of cosines and sines."""
    x, places, attributes = node.input(0), node.input(1), node.attributes
    attributes.skip("scale")  # ONNX Runtime does not use it
    if attributes.get_int("is_packed_batching", 0):
        raise UnsupportedError("is_packed_batching is not supported")
    size, tables = attributes.get_int("rotary_embedding_dim", 0), [node.input(index) for index in (2, 3)]
    heads = attributes.get_int("num_heads", 0) or (0 if size else x.shape[-1] // max(2 * tables[0].shape[-1], 1))
    query = split_heads(node, x, heads) if x.rank == 3 else x
    if query.rank != 4:
        raise ModelError(f"the input must have rank 3 or 4, but has shape {list(x.shape)}")
    if places.type.size == 1:
        places = node.emit(ai.AddOp, reshape(node, places, (1, 1)), steps(query.shape[2], 1, 2))
    cos, sin = (node.emit(ai.GatherOp, table, places, axis=0) for table in tables)
    out = rotate(node, query, cos, sin, attributes.get_bool("interleaved", False))
    return merge_heads(node, out) if x.rank == 3 else out
