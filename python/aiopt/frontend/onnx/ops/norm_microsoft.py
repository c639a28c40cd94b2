"""Normalisations of transformers as ONNX Runtime has them (domain com.microsoft).

Source: ONNX Runtime's docs/ContribOperators.md.
"""

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import broadcast_to, cast, normal_axis, reshape, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import microsoft_op, onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError

_EPSILON = 1e-12  # of the operators that also add


@onnx_op("SimplifiedLayerNormalization", since=7)
def _simplified_layer_norm(node: Node) -> Value:
    """x / sqrt(mean(x^2) + epsilon) * scale. ONNX Runtime's fusions write it into ONNX's own domain."""
    node.attributes.skip("stash_type")
    x = node.input(0)
    axis = normal_axis(node.attributes.get_int("axis", -1), x.rank)
    return _rms_norm(node, x, node.input(1), axis, node.attributes.get_float("epsilon", 1e-5))


def _rms_norm(node: Node, x: Value, scale: Value, axis: int, epsilon: float) -> Value:
    wide = x if x.element == "f64" else cast(node, x, "f32")
    square = node.emit(ai.MulOp, wide, wide)
    means = node.emit(ai.ReduceMeanOp, square, axes=list(range(axis, x.rank)), keepdims=True)
    root = node.emit(ai.SqrtOp, node.emit(ai.AddOp, means, scalar(means, epsilon)))
    normal = node.emit(ai.DivOp, wide, root)
    out = node.emit(ai.MulOp, normal, cast(node, broadcast_to(node, scale, x.shape[axis:]), wide.element))
    return cast(node, out, x.element)


@microsoft_op("SkipLayerNormalization")
def _skip_layer_norm(node: Node) -> list[Value | None]:
    """Inputs: input, skip, gamma, beta, bias. Outputs: the normal sum, two of training, the sum."""
    total, epsilon = _skip_sum(node, node.optional(4)), node.attributes.get_float("epsilon", _EPSILON)
    out = _layer_norm(node, total, node.input(2), node.optional(3), epsilon)
    return [out, None, None, total]


@microsoft_op("SkipSimplifiedLayerNormalization")
def _skip_simplified_layer_norm(node: Node) -> list[Value | None]:
    """Inputs: input, skip, gamma, bias. Outputs as of SkipLayerNormalization."""
    total, epsilon = _skip_sum(node, node.optional(3)), node.attributes.get_float("epsilon", _EPSILON)
    return [_rms_norm(node, total, node.input(2), total.rank - 1, epsilon), None, None, total]


def _skip_sum(node: Node, bias: Value | None) -> Value:
    """input + skip + bias; the skip may be the same for all of the batch."""
    x, skip = node.input(0), node.input(1)
    total = node.emit(ai.AddOp, x, skip)
    total = total if bias is None else node.emit(ai.AddOp, total, bias)
    if total.shape != x.shape:
        raise ModelError(f"skip of shape {list(skip.shape)} or the bias does not broadcast to {list(x.shape)}")
    return total


def _layer_norm(node: Node, x: Value, gamma: Value, beta: Value | None, epsilon: float) -> Value:
    return node.emit(ai.LayerNormOp, x, gamma, beta, axis=x.rank - 1, epsilon=epsilon)


@microsoft_op("EmbedLayerNormalization")
def _embed_layer_norm(node: Node) -> list[Value]:
    """Sums of the embeddings of words, places and segments, normalised; how many words the mask leaves; the sums."""
    words, segments = node.input(0), node.optional(1)
    gamma, beta, mask, positions = (node.optional(index) for index in (5, 6, 7, 8))
    if words.rank != 2 or gamma is None:
        raise ModelError(f"input_ids must have the shape [batch, length], not {list(words.shape)}, and gamma be there")
    if node.attributes.get_int("mask_index_type", 0) not in (0, 1):
        raise UnsupportedError("mask_index_type must be 0 or 1")
    total = node.emit(ai.GatherOp, node.input(2), words, axis=0)
    if positions is not None:
        total = node.emit(ai.AddOp, total, node.emit(ai.GatherOp, node.input(3), positions, axis=0))
    else:
        total = node.emit(ai.AddOp, total, _first_rows(node, node.input(3), words.shape[1]))
    if segments is not None:
        total = node.emit(ai.AddOp, total, node.emit(ai.GatherOp, node.input(4), segments, axis=0))
    out = _layer_norm(node, total, gamma, beta, node.attributes.get_float("epsilon", _EPSILON))
    return [out, _mask_lengths(node, mask, words.shape[0]), total]


def _first_rows(node: Node, table: Value, count: int) -> Value:
    return node.emit(ai.SliceOp, table, starts=[0, 0], sizes=[count, table.shape[1]])


def _mask_lengths(node: Node, mask: Value | None, batch: int) -> Value:
    """How many ones each row of the mask has (i32); 0 without a mask."""
    if mask is None:
        return broadcast_to(node, reshape(node, scalar(node.input(0), 0), (1,)), (batch,))
    return node.emit(ai.ReduceSumOp, mask, axes=[1], keepdims=False)
