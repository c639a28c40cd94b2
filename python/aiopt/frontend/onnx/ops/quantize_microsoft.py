"""Quantised operators of ONNX Runtime (domain com.microsoft).

Source: ONNX Runtime's docs/ContribOperators.md. The text leaves open in which order things are computed and whether
the zero point is added before or after rounding, which decides ties. Here it is what ONNX Runtime 1.32 was seen to do.
"""

import math

from aiopt.dialects import ai
from aiopt.frontend.onnx.activations import leaky_relu
from aiopt.frontend.onnx.forms import cast, scalar, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.ops.movement import concat
from aiopt.frontend.onnx.ops.pool import average_pool
from aiopt.frontend.onnx.ops.quantize import by_column, by_row, dynamic_quantize, multiply_integers
from aiopt.frontend.onnx.quantization import one_or_zero, one_value, requantize, zero
from aiopt.frontend.onnx.registry import microsoft_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError

_FEWEST_STEPS = -(2.0**30)


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


def _rounded(node: Node, out: Value, element: str) -> Value:
    """Steps to which the zero point has been added, as integers: half to even, saturated."""
    return node.emit(ai.QuantizeLinearOp, out, scalar(out, 1), zero(element))


@microsoft_op("QLinearAdd")
def _qlinear_add(node: Node) -> Value:
    """A * a + B * b + fixed: a and b are ratios of scales, all zero points are in the fixed part.

    ONNX Runtime fuses both products into the additions, as compiled code does where the processor can.
    """
    element, step = node.input(0).element, one_value(node, 6, "C_scale")
    ratios = [node.emit(ai.DivOp, one_value(node, at, f"{name}_scale"), step) for at, name in ((1, "A"), (4, "B"))]
    zeros = [cast(node, one_or_zero(node, at, "zero point", element), "f32") for at in (2, 5, 7)]
    shifts = [node.emit(ai.MulOp, ratio, shift) for ratio, shift in zip(ratios, zeros[:2], strict=True)]
    total = node.emit(ai.SubOp, zeros[2], node.emit(ai.AddOp, *shifts))
    for at, ratio in ((3, ratios[1]), (0, ratios[0])):
        total = node.emit(ai.AddOp, total, node.emit(ai.MulOp, cast(node, node.input(at), "f32"), ratio))
    return _rounded(node, total, element)


@microsoft_op("QLinearMul")
def _qlinear_mul(node: Node) -> Value:
    """The product is limited before the zero point is added: so the two stay two roundings, as in ONNX Runtime."""
    element = node.input(0).element
    scales = node.emit(ai.MulOp, one_value(node, 1, "A_scale"), one_value(node, 4, "B_scale"))
    factor = node.emit(ai.DivOp, scales, one_value(node, 6, "C_scale"))
    steps = cast(node, node.emit(ai.MulOp, _steps(node, 0), _steps(node, 3)), "f32")
    product = node.emit(ai.MulOp, steps, factor)
    limited = node.emit(ai.MaximumOp, product, scalar(product, _FEWEST_STEPS))
    shift = cast(node, one_or_zero(node, 7, "C_zero_point", element), "f32")
    return _rounded(node, node.emit(ai.AddOp, limited, shift), element)


@microsoft_op("QLinearSigmoid")
def _qlinear_sigmoid(node: Node) -> Value:
    return _stored(node, node.emit(ai.SigmoidOp, _real(node, 0)), 3)


@microsoft_op("QLinearLeakyRelu")
def _qlinear_leaky_relu(node: Node) -> Value:
    return _stored(node, leaky_relu(node, _real(node, 0), node.attributes.get_float("alpha", 0.01)), 3)


@microsoft_op("QLinearAveragePool")
def _qlinear_average_pool(node: Node) -> Value:
    """With count_include_pad every window counts all of its elements, those beyond the padding too."""
    x, element = _real(node, 0), node.input(0).element
    if x.rank < 3:
        raise ModelError(f"the input must have three dimensions or more, but has shape {list(x.shape)}")
    if node.attributes.get_bool("channels_last", False):
        out = average_pool(node, transpose(node, x, (0, x.rank - 1, *range(1, x.rank - 1))), count_whole=True)
        out = transpose(node, out, (0, *range(2, x.rank), 1))
    else:
        out = average_pool(node, x, count_whole=True)
    steps = node.emit(ai.DivOp, out, one_value(node, 3, "y_scale"))
    shift = cast(node, one_or_zero(node, 4, "y_zero_point", element), "f32")
    return _rounded(node, node.emit(ai.AddOp, steps, shift), element)


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
