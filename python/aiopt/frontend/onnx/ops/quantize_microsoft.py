"""Quantised operators of ONNX Runtime (domain com.microsoft).

Source: ONNX Runtime's docs/ContribOperators.md. Where the text leaves the order of operations open it is that of the
formula; ONNX Runtime works with approximations there that may differ by one step.
"""

import math

from aiopt.dialects import ai
from aiopt.frontend.onnx.activations import leaky_relu
from aiopt.frontend.onnx.forms import cast, scalar, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.ops.movement import concat
from aiopt.frontend.onnx.ops.pool import average_pool
from aiopt.frontend.onnx.ops.quantize import by_column, by_row, dynamic_quantize, multiply_integers
from aiopt.frontend.onnx.quantization import one_or_zero, one_value, requantize
from aiopt.frontend.onnx.registry import microsoft_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError


def _real(node: Node, at: int) -> Value:
    """Inputs `at` to `at` + 2, tensor, scale and zero point, as the real numbers they stand for."""
    x = node.input(at)
    zero_point = one_or_zero(node, at + 2, "zero point", x.element)
    return node.emit(ai.DequantizeLinearOp, x, one_value(node, at + 1, "scale"), zero_point)


def _stored(node: Node, out: Value, at: int) -> Value:
    """Real numbers as integers by the scale and zero point that are inputs `at` and `at` + 1."""
    zero_point = one_or_zero(node, at + 1, "zero point", node.input(0).element)
    return node.emit(ai.QuantizeLinearOp, out, one_value(node, at, "scale"), zero_point)


def _steps(node: Node, at: int) -> Value:
    """Input `at` less its zero point, input `at` + 2, in i32."""
    x = node.input(at)
    zero_point = one_or_zero(node, at + 2, "zero point", x.element)
    return node.emit(ai.SubOp, cast(node, x, "i32"), cast(node, zero_point, "i32"))


@microsoft_op("QLinearAdd")
def _qlinear_add(node: Node) -> Value:
    return _stored(node, node.emit(ai.AddOp, _real(node, 0), _real(node, 3)), 6)


@microsoft_op("QLinearMul")
def _qlinear_mul(node: Node) -> Value:
    scales = node.emit(ai.MulOp, one_value(node, 1, "A_scale"), one_value(node, 4, "B_scale"))
    factor = node.emit(ai.DivOp, scales, one_value(node, 6, "C_scale"))
    zero_point = one_or_zero(node, 7, "C_zero_point", node.input(0).element)
    return requantize(node, node.emit(ai.MulOp, _steps(node, 0), _steps(node, 3)), factor, zero_point)


@microsoft_op("QLinearSigmoid")
def _qlinear_sigmoid(node: Node) -> Value:
    return _stored(node, node.emit(ai.SigmoidOp, _real(node, 0)), 3)


@microsoft_op("QLinearLeakyRelu")
def _qlinear_leaky_relu(node: Node) -> Value:
    return _stored(node, leaky_relu(node, _real(node, 0), node.attributes.get_float("alpha", 0.01)), 3)


@microsoft_op("QLinearAveragePool")
def _qlinear_average_pool(node: Node) -> Value:
    x = _real(node, 0)
    if x.rank < 3:
        raise ModelError(f"the input must have three dimensions or more, but has shape {list(x.shape)}")
    if not node.attributes.get_bool("channels_last", False):
        return _stored(node, average_pool(node, x), 3)
    out = average_pool(node, transpose(node, x, (0, x.rank - 1, *range(1, x.rank - 1))))
    return _stored(node, transpose(node, out, (0, *range(2, x.rank), 1)), 3)


@microsoft_op("QLinearGlobalAveragePool")
def _qlinear_global_average_pool(node: Node) -> Value:
    """The sum is exact; its divisor is part of the factor, as in ONNX Runtime."""
    x = node.input(0)
    first = 1 if node.attributes.get_bool("channels_last", False) else 2
    axes = list(range(first, x.rank + first - 2))
    total = node.emit(ai.ReduceSumOp, _steps(node, 0), axes=axes, keepdims=True)
    y_scale = one_value(node, 3, "y_scale")
    count = scalar(y_scale, math.prod(x.shape[axis] for axis in axes))
    factor = node.emit(ai.DivOp, one_value(node, 1, "x_scale"), node.emit(ai.MulOp, y_scale, count))
    return requantize(node, total, factor, one_or_zero(node, 4, "y_zero_point", x.element))


@microsoft_op("QLinearConcat")
def _qlinear_concat(node: Node) -> Value:
    """Inputs: scale and zero point of the result, then tensor, scale and zero point of each part."""
    y_scale, y_zero = one_value(node, 0, "Y_scale"), one_value(node, 1, "Y_zero_point")
    parts = [node.emit(ai.QuantizeLinearOp, _real(node, at), y_scale, y_zero) for at in range(2, len(node.inputs), 3)]
    return concat(node, parts)


@microsoft_op("QGemm")
def _qgemm(node: Node) -> Value:
    """f32 without the scale of the result."""
    a, b = node.input(0), node.input(3)
    if (a.rank, b.rank) != (2, 2):
        raise ModelError(f"A and B must be matrices, but have ranks {a.rank} and {b.rank}")
    a = transpose(node, a, (1, 0)) if node.attributes.get_bool("transA", False) else a
    b = transpose(node, b, (1, 0)) if node.attributes.get_bool("transB", False) else b
    sums = multiply_integers(node, a, b, node.optional(2), node.optional(5))
    if (addend := node.optional(6)) is not None:
        sums = node.emit(ai.AddOp, sums, addend)
    scale = one_value(node, 1, "a_scale")
    alpha = scalar(scale, node.attributes.get_float("alpha", 1.0))
    factor = node.emit(ai.MulOp, node.emit(ai.MulOp, alpha, scale), by_column(node, node.input(4)))
    if node.optional(7) is None:
        return node.emit(ai.MulOp, cast(node, sums, "f32"), factor)
    factor = node.emit(ai.DivOp, factor, one_value(node, 7, "y_scale"))
    return requantize(node, sums, factor, one_value(node, 8, "y_zero_point"))


@microsoft_op("MatMulIntegerToFloat")
def _matmul_integer_to_float(node: Node) -> Value:
    sums = multiply_integers(node, node.input(0), node.input(1), node.optional(4), node.optional(5))
    return _to_float(node, sums, by_row(node, node.input(2)), node.input(3), node.optional(6))


@microsoft_op("DynamicQuantizeMatMul")
def _dynamic_quantize_matmul(node: Node) -> Value:
    lhs, scale, zero_point = dynamic_quantize(node, node.input(0))
    sums = multiply_integers(node, lhs, node.input(1), zero_point, node.optional(3))
    return _to_float(node, sums, scale, node.input(2), node.optional(4))


def _to_float(node: Node, sums: Value, a_scale: Value, b_scale: Value, bias: Value | None) -> Value:
    factor = node.emit(ai.MulOp, a_scale, by_column(node, b_scale))
    out = node.emit(ai.MulOp, cast(node, sums, "f32"), factor)
    return out if bias is None else node.emit(ai.AddOp, out, bias)
