"""Normalisation by mean and variance, or by a norm."""

import math
from collections.abc import Sequence

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import broadcast_to, cast, normal_axes, normal_axis, reshape, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.tensors import element_type
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedAttributeError, UnsupportedError


def _moments(node: Node, x: Value, axes: Sequence[int]) -> tuple[Value, Value, Value]:
    """Mean and variance over axes, which are kept, and x without its mean."""
    mean = node.emit(ai.ReduceMeanOp, x, axes=list(axes), keepdims=True)
    centred = node.emit(ai.SubOp, x, mean)
    square = node.emit(ai.MulOp, centred, centred)
    return mean, node.emit(ai.ReduceMeanOp, square, axes=list(axes), keepdims=True), centred


def _deviation(node: Node, variance: Value, epsilon: float) -> Value:
    return node.emit(ai.SqrtOp, node.emit(ai.AddOp, variance, scalar(variance, epsilon)))


def _scale_and_shift(node: Node, x: Value, scale: Value, shift: Value | None) -> Value:
    out = node.emit(ai.MulOp, x, scale)
    return out if shift is None else node.emit(ai.AddOp, out, shift)


def _stash(node: Node) -> str:
    """The type in which statistics are computed."""
    stash = element_type(node.attributes.get_int("stash_type", 1), "stash_type")
    if stash not in ("f32", "f64"):
        raise UnsupportedAttributeError(f"statistics of type {stash} (stash_type) are not supported, only f32 and f64")
    return stash


@onnx_op("LayerNormalization", since=17)
def _layer_norm(node: Node) -> list[Value]:
    """Statistics in the type of stash_type or the input's, whichever is wider."""
    x, scale, bias = node.input(0), node.input(1), node.optional(2)
    axis, epsilon = normal_axis(node.attributes.get_int("axis", -1), x.rank), node.attributes.get_float("epsilon", 1e-5)
    stash, shape = _stash(node), x.shape[axis:]
    wide = "f64" if stash == "f64" else x.element
    operands = [cast(node, value, wide) for value in (x, broadcast_to(node, scale, shape))]
    shift = None if bias is None else cast(node, broadcast_to(node, bias, shape), wide)
    out = cast(node, node.emit(ai.LayerNormOp, *operands, shift, axis=axis, epsilon=epsilon), x.element)
    if not any(node.outputs[1:]):
        return [out]
    mean, variance, _ = _moments(
        node, cast(node, x, "f64" if "f64" in (stash, x.element) else "f32"), range(axis, x.rank)
    )
    inverse = node.emit(ai.DivOp, scalar(variance, 1), _deviation(node, variance, epsilon))
    return [out, cast(node, mean, stash), cast(node, inverse, stash)]


@onnx_op("RMSNormalization", since=23)
def _rms_norm(node: Node) -> Value:
    """x / sqrt(mean(x^2) + epsilon) over the last dimensions in the stash type, then times scale in the input's."""
    x, scale = node.input(0), node.input(1)
    axis, epsilon = normal_axis(node.attributes.get_int("axis", -1), x.rank), node.attributes.get_float("epsilon", 1e-5)
    wide = cast(node, x, _stash(node))
    square = node.emit(ai.MulOp, wide, wide)
    means = node.emit(ai.ReduceMeanOp, square, axes=list(range(axis, x.rank)), keepdims=True)
    normal = cast(node, node.emit(ai.DivOp, wide, _deviation(node, means, epsilon)), scale.element)
    return cast(node, node.emit(ai.MulOp, normal, scale), scale.element)


@onnx_op("InstanceNormalization")
def _instance_norm(node: Node) -> Value:
    """Statistics of each channel of each image."""
    x, scale, bias = node.input(0), node.input(1), node.input(2)
    if x.rank < 3 or scale.shape != (x.shape[1],) or bias.shape != scale.shape:
        raise ModelError(f"scale and bias must have one number per channel of the input {list(x.shape)}")
    parts = (*x.shape[:2], math.prod(x.shape[2:]))
    normal = _normal(node, reshape(node, x, parts), [2], node.attributes.get_float("epsilon", 1e-5))
    column = (x.shape[1], 1)
    out = _scale_and_shift(node, normal, reshape(node, scale, column), reshape(node, bias, column))
    return reshape(node, out, x.shape)


def _normal(node: Node, x: Value, axes: Sequence[int], epsilon: float) -> Value:
    _, variance, centred = _moments(node, x, axes)
    return node.emit(ai.DivOp, centred, _deviation(node, variance, epsilon))


@onnx_op("GroupNormalization", since=18, until=20)
def _group_norm_per_group(node: Node) -> Value:
    """scale and bias have one number per group."""
    return _group_norm_of(node, node.input(0).element, per_group=True)


@onnx_op("GroupNormalization", since=21)
def _group_norm(node: Node) -> Value:
    """scale and bias have one number per channel."""
    return _group_norm_of(node, _stash(node), per_group=False)


def _group_norm_of(node: Node, element: str, per_group: bool) -> Value:
    x, scale, bias, attributes = node.input(0), node.input(1), node.input(2), node.attributes
    groups = attributes.require("num_groups", attributes.get_int("num_groups", None))
    if x.rank < 3 or groups < 1 or x.shape[1] % groups:
        raise ModelError(f"{groups} groups do not divide the channels of the input {list(x.shape)}")
    numbers = groups if per_group else x.shape[1]
    if scale.shape != (numbers,) or bias.shape != (numbers,):
        raise ModelError(f"scale and bias must have {numbers} numbers, but are {list(scale.shape)}, {list(bias.shape)}")
    size = x.type.size // max(x.shape[0] * groups, 1)
    parts = cast(node, reshape(node, x, (x.shape[0], groups, size)), element)
    normal = cast(node, _normal(node, parts, [2], attributes.get_float("epsilon", 1e-5)), x.element)
    spread = reshape(node, normal, (x.shape[0], numbers, x.type.size // max(x.shape[0] * numbers, 1)))
    column = (numbers, 1)
    return reshape(
        node, _scale_and_shift(node, spread, reshape(node, scale, column), reshape(node, bias, column)), x.shape
    )


@onnx_op("MeanVarianceNormalization", since=9)
def _mean_variance_norm(node: Node) -> Value:
    """(x - mean) / (deviation + 1e-9)."""
    x = node.input(0)
    axes = normal_axes(node.attributes.get_ints("axes", [0, 2, 3]), x.rank)
    _, variance, centred = _moments(node, x, axes)
    deviation = node.emit(ai.SqrtOp, variance)
    return node.emit(ai.DivOp, centred, node.emit(ai.AddOp, deviation, scalar(deviation, 1e-9)))


@onnx_op("LpNormalization")
def _lp_norm(node: Node) -> Value:
    """x / (its 1- or 2-norm along an axis); 0 where the norm is 0."""
    x, p = node.input(0), node.attributes.get_int("p", 2)
    axis = normal_axis(node.attributes.get_int("axis", -1), x.rank)
    if p not in (1, 2):
        raise ModelError(f"p must be 1 or 2, but is {p}")
    wide = x if x.element == "f64" else cast(node, x, "f32")
    parts = node.emit(ai.AbsOp, wide) if p == 1 else node.emit(ai.MulOp, wide, wide)
    norm = node.emit(ai.ReduceSumOp, parts, axes=[axis], keepdims=True)
    norm = norm if p == 1 else node.emit(ai.SqrtOp, norm)
    divisor = node.emit(ai.SelectOp, node.emit(ai.EqualOp, norm, scalar(norm, 0)), scalar(norm, 1), norm)
    return cast(node, node.emit(ai.DivOp, wide, divisor), x.element)


@onnx_op("BatchNormalization", until=13)
def _batch_norm_old(node: Node) -> list[Value]:
    """Until opset 13 a node that has more than one output is in training mode.

    Outputs 3 and 4, with which its gradient is computed, are the mean and, as in ONNX Runtime, 1 / the deviation.
    """
    values, attributes = _batch_norm_inputs(node), node.attributes
    epsilon, momentum = attributes.get_float("epsilon", 1e-5), attributes.get_float("momentum", 0.9)
    by_channel = attributes.get_bool("spatial", True)
    if not any(node.outputs[1:]):
        return [_batch_norm_of(node, values, epsilon) if by_channel else _by_element(node, values, epsilon)]
    if not by_channel:
        raise UnsupportedError(
            "spatial=0 (statistics per element) in training mode, of several outputs, is not compiled"
        )
    outputs, (mean, variance) = _train(node, values, epsilon, momentum)
    inverse = node.emit(ai.DivOp, scalar(variance, 1), _deviation(node, variance, epsilon))
    return [*outputs, cast(node, mean, values[3].element), cast(node, inverse, values[4].element)]


@onnx_op("BatchNormalization", since=14)
def _batch_norm(node: Node) -> list[Value]:
    """In training mode by the statistics of this batch, which also move the running ones (outputs 1 and 2)."""
    values, attributes = _batch_norm_inputs(node), node.attributes
    epsilon, momentum = attributes.get_float("epsilon", 1e-5), attributes.get_float("momentum", 0.9)
    if not attributes.get_bool("training_mode", False):
        return [_batch_norm_of(node, values, epsilon)]
    return _train(node, values, epsilon, momentum)[0]


def _batch_norm_inputs(node: Node) -> list[Value]:
    """x, scale, bias, mean and variance; an x of one dimension is a batch of one channel."""
    x, *others = (node.input(index) for index in range(5))
    return [reshape(node, x, (x.shape[0], 1)) if x.rank == 1 else x, *others]


def _by_element(node: Node, values: Sequence[Value], epsilon: float) -> Value:
    """Each element of an image has statistics of its own."""
    x, scale, bias, mean, variance = values
    if any(value.shape != x.shape[1:] for value in values[1:]):
        raise ModelError(f"scale, bias and statistics must have the shape {list(x.shape[1:])} of an image of the input")
    normal = node.emit(ai.DivOp, node.emit(ai.SubOp, x, mean), _deviation(node, variance, epsilon))
    return _scale_and_shift(node, normal, scale, bias)


def _train(
    node: Node, values: Sequence[Value], epsilon: float, momentum: float
) -> tuple[list[Value], tuple[Value, Value]]:
    """The result and the running statistics moved; and mean and variance of this batch."""
    x, scale, bias, *running = values
    if x.rank < 2 or any(value.shape != (x.shape[1],) for value in values[1:]):
        raise ModelError(f"scale, bias and statistics must have one number per channel of the input {list(x.shape)}")
    wide = x if x.element == "f64" else cast(node, x, "f32")
    mean, variance, _ = _moments(node, wide, [axis for axis in range(x.rank) if axis != 1])
    mean, variance = (reshape(node, value, (x.shape[1],)) for value in (mean, variance))
    outputs = [_batch_norm_of(node, [x, scale, bias, mean, variance], epsilon)]
    for old, new in zip(running, (mean, variance), strict=True):
        kept = node.emit(ai.MulOp, old, scalar(old, momentum))
        moved = node.emit(ai.MulOp, cast(node, new, old.element), scalar(old, 1 - momentum))
        outputs.append(node.emit(ai.AddOp, kept, moved))
    return outputs, (mean, variance)


def _batch_norm_of(node: Node, values: Sequence[Value], epsilon: float) -> Value:
    """BatchNormalization-15 lets the statistics be wider than the input: computed in the widest, then narrowed."""
    widest = max((value.type.dtype.itemsize, value.element) for value in values)[1]
    operands = [cast(node, value, widest) for value in values]
    out = cast(node, node.emit(ai.BatchNormOp, *operands, epsilon=epsilon), values[0].element)
    return reshape(node, out, node.input(0).shape)
