"""Attention and RotaryEmbedding of ONNX."""

import math

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
    soft_cap,
    split_heads,
    wide_element,
)
from aiopt.frontend.onnx.builder import full
from aiopt.frontend.onnx.forms import cast, reshape, scalar, steps
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.tensors import element_type
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError
from aiopt.support.types import numpy_dtype


@onnx_op("Attention", since=23, until=24)
def _attention(node: Node) -> list[Value]:
    return _attention_of(node, EVERYTHING, EVERYTHING)


@onnx_op("Attention", since=25)
def _attention_in_window(node: Node) -> list[Value]:
    before, after = (node.attributes.get_int(f"{side}_window_size", EVERYTHING) for side in ("left", "right"))
    if min(before, after) < EVERYTHING:
        raise ModelError(f"a window size must be -1 or more, but they are {before} and {after}")
    return _attention_of(node, before, after)


def _attention_of(node: Node, before: int, after: int) -> list[Value]:
    """Y, the keys and values with those of the past before them, and the scores at the stage that is asked for.

    All is computed in f32 where the tensors have 16 bits, and rounded once.
    """
    attributes, is_flat = node.attributes, node.input(0).rank == 3
    query, key, value = _heads(node, is_flat)
    key, value = after_past(node, node.optional(4), key), after_past(node, node.optional(5), value)
    element, wide = query.element, wide_element(query)
    scale = attributes.get_float("scale", None)
    root = math.sqrt(1 / math.sqrt(query.shape[3]) if scale is None else scale)
    root = float(np.array(root, numpy_dtype(element)))  # rounded as the operator's definition by others does
    scaled = [affine(node, x, root, 0) for x in promoted(node, (query, key), wide)]
    scores = query_by_key(node, *scaled)
    capped = soft_cap(node, scores, attributes.get_float("softcap", 0.0))
    bias = _bias(node, capped, before, after)
    biased = capped if bias is None else node.emit(ai.AddOp, capped, bias)
    weights = _softmax(node, biased, bias)
    out = cast(node, by_value(node, weights, cast(node, value, wide)), element)
    stages = (scores, capped, biased, weights)
    mode = attributes.get_int("qk_matmul_output_mode", 0)
    if not 0 <= mode < len(stages):
        raise ModelError(f"qk_matmul_output_mode must be 0 to 3, but is {mode}")
    return [merge_heads(node, out) if is_flat else out, key, value, cast(node, stages[mode], element)]


def _heads(node: Node, is_flat: bool) -> list[Value]:
    """Query, key and value as [B, H, S, D]."""
    values = [node.input(index) for index in range(3)]
    numbers = [node.attributes.get_int(f"{kind}_num_heads", None) for kind in ("q", "kv", "kv")]
    if {value.rank for value in values} != {3 if is_flat else 4}:
        raise ModelError(f"Q, K and V must have rank 3 or all rank 4, but are {[list(x.shape) for x in values]}")
    if not is_flat:
        return values
    counts = [node.attributes.require("q_num_heads and kv_num_heads", number) for number in numbers]
    return [split_heads(node, x, count) for x, count in zip(values, counts, strict=True)]


def _bias(node: Node, scores: Value, before: int, after: int) -> Value | None:
    """The sum of what masks, the causal frontier, the window and the number of valid keys add to the scores."""
    mask, lengths = node.optional(3), (scores.shape[2], scores.shape[3])
    valid, past = node.optional(6), node.optional(4)
    parts = [] if mask is None else [_mask_bias(node, mask, scores)]
    offset: Value | int = 0 if past is None else past.shape[2]
    if valid is not None:
        if past is not None:
            raise ModelError("nonpad_kv_seqlen and past_key exclude each other")
        count = reshape(node, valid, (scores.shape[0], 1, 1, 1))
        parts.append(as_bias(node, node.emit(ai.LessOp, steps(lengths[1], 3, 4), count), scores))
        offset = affine(node, count, 1, -lengths[0])
    if node.attributes.get_bool("is_causal", False):
        parts.append(as_bias(node, in_window(node, lengths, offset, EVERYTHING, 0), scores))
    if max(before, after) > EVERYTHING:
        parts.append(as_bias(node, in_window(node, lengths, offset, before, after), scores))
    return add_all(node, parts)


def _mask_bias(node: Node, mask: Value, scores: Value) -> Value:
    """A mask that ends before the last key hides those that follow."""
    missing = scores.shape[3] - mask.shape[-1] if mask.rank else 0
    if missing > 0 and (node.opset >= 24 or mask.shape[-1] != 1):
        hidden = np.zeros((), np.bool_) if mask.element == "i1" else np.array(-math.inf, mask.type.dtype)
        rest = full((*mask.shape[:-1], missing), hidden)
        mask = node.emit(ai.ConcatOp, [mask, rest], axis=mask.rank - 1)
    return as_bias(node, mask, scores) if mask.element == "i1" else cast(node, mask, scores.element)


def _softmax(node: Node, biased: Value, bias: Value | None) -> Value:
    """Along the keys; zeros where the bias leaves no key."""
    precision = node.attributes.get_int("softmax_precision", None)
    wide = biased.element
    if precision is not None and element_type(precision, "softmax_precision") == "f64":
        wide = "f64"
    weights = cast(node, node.emit(ai.SoftmaxOp, cast(node, biased, wide), axis=3), biased.element)
    if bias is None:
        return weights
    best = node.emit(ai.ReduceMaxOp, bias, axes=[bias.rank - 1], keepdims=True)
    if best.array is not None and not np.isneginf(best.array).any():
        return weights
    nothing = node.emit(ai.EqualOp, best, scalar(best, -math.inf))
    return node.emit(ai.SelectOp, nothing, scalar(weights, 0), weights)


@onnx_op("RotaryEmbedding", since=23)
def _rotary_embedding(node: Node) -> Value:
    """The angles are those of each token, or rows of a table that position_ids name."""
    x, cos, sin, places, attributes = node.input(0), node.input(1), node.input(2), node.optional(3), node.attributes
    heads, is_flat = attributes.get_int("num_heads", 0), x.rank == 3
    size = attributes.get_int("rotary_embedding_dim", 0)
    query = split_heads(node, x, heads) if is_flat else x
    if query.rank != 4:
        raise ModelError(f"the input must have rank 3 or 4, but has shape {list(x.shape)}")
    if places is not None:
        cos, sin = (node.emit(ai.GatherOp, table, places, axis=0) for table in (cos, sin))
    if cos.shape[-1] != (size or query.shape[3]) // 2:
        raise ModelError(f"the angles are {cos.shape[-1]} per token, but must be half of {size or query.shape[3]}")
    out = rotate(node, query, cos, sin, attributes.get_bool("interleaved", False))
    return merge_heads(node, out) if is_flat else out
