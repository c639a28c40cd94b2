"""Contractions and normalisation."""

import math

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast, matrix_product, normal_axis, reshape, scalar, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.frontend.onnx.windows import read_window
from aiopt.support.errors import ModelError, UnsupportedAttributeError, UnsupportedError


@onnx_op("Conv")
def _conv(node: Node) -> Value:
    x, weight, bias = node.input(0), node.input(1), node.optional(2)
    if weight.rank != x.rank:
        raise ModelError(f"input {list(x.shape)} and weight {list(weight.shape)} must have one rank")
    window = read_window(node, x.shape[2:], kernel=weight.shape[2:])
    return node.emit(
        ai.ConvOp,
        x,
        weight,
        bias,
        strides=window.strides,
        pads=window.pads,
        dilations=window.dilations,
        group=node.attributes.get_int("group", 1),
    )


@onnx_op("MatMul")
def _matmul(node: Node) -> Value:
    return matrix_product(node, node.input(0), node.input(1), lambda lhs, rhs: node.emit(ai.MatMulOp, lhs, rhs))


@onnx_op("Gemm")
def _gemm(node: Node) -> Value:
    """alpha * A' * B' + beta * C; C broadcasts to the product, not the other way round."""
    lhs, rhs, addend = node.input(0), node.input(1), node.optional(2)
    alpha, beta = node.attributes.get_float("alpha", 1.0), node.attributes.get_float("beta", 1.0)
    transposes = node.attributes.get_bool("transA", False), node.attributes.get_bool("transB", False)
    if (lhs.rank, rhs.rank) != (2, 2):
        raise ModelError(f"A and B must be matrices, but have ranks {lhs.rank} and {rhs.rank}")
    lhs, rhs = (transpose(node, x, (1, 0)) if swap else x for x, swap in zip((lhs, rhs), transposes, strict=True))
    out = node.emit(ai.MatMulOp, lhs, rhs)
    if alpha != 1:
        out = node.emit(ai.MulOp, out, scalar(out, alpha))
    if addend is None:
        return out
    if beta != 1:
        addend = node.emit(ai.MulOp, addend, scalar(addend, beta))
    total = node.emit(ai.AddOp, out, addend)
    if total.shape != out.shape:
        raise ModelError(f"C of shape {list(addend.shape)} does not broadcast to the product's {list(out.shape)}")
    return total


@onnx_op("BatchNormalization", until=13)
def _batch_norm_old(node: Node) -> Value:
    """Until opset 13 a node that has more than one output is in training mode."""
    if not node.attributes.get_bool("spatial", True):
        raise UnsupportedAttributeError("spatial=0 (statistics per element) is not supported")
    if any(node.outputs[1:]):
        raise UnsupportedError("more than one output means training mode: export the model for inference")
    return _batch_norm_of(node)


@onnx_op("BatchNormalization", since=14)
def _batch_norm(node: Node) -> Value:
    if node.attributes.get_bool("training_mode", False):
        raise UnsupportedAttributeError("training_mode=1 is not supported: export the model for inference")
    return _batch_norm_of(node)


def _batch_norm_of(node: Node) -> Value:
    """BatchNormalization-15 lets the statistics be wider than the input: computed in the widest, then narrowed."""
    node.attributes.skip("momentum")
    values = [node.input(index) for index in range(5)]
    widest = max((value.type.dtype.itemsize, value.element) for value in values)[1]
    operands = [cast(node, value, widest) for value in values]
    out = node.emit(ai.BatchNormOp, *operands, epsilon=node.attributes.get_float("epsilon", 1e-5))
    return cast(node, out, values[0].element)


@onnx_op("Softmax", until=12)
def _softmax_of_matrix(node: Node) -> Value:
    """Before opset 13 the input is flattened to a matrix whose rows run from `axis` to the end."""
    x, given = node.input(0), node.attributes.get_int("axis", 1)
    axis = x.rank if given == x.rank else normal_axis(given, x.rank)
    matrix = (math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))
    if x.rank and axis == x.rank - 1:
        return node.emit(ai.SoftmaxOp, x, axis=axis)
    return reshape(node, node.emit(ai.SoftmaxOp, reshape(node, x, matrix), axis=1), x.shape)


@onnx_op("Softmax", since=13)
def _softmax(node: Node) -> Value:
    x = node.input(0)
    return node.emit(ai.SoftmaxOp, x, axis=normal_axis(node.attributes.get_int("axis", -1), x.rank))
