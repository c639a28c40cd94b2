"""Quantisation and the integer operators."""

from collections.abc import Sequence

import onnx

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast, matrix_product, reshape, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.quantization import Granularity, collapsed, one_or_zero, one_value, requantize, zero
from aiopt.frontend.onnx.registry import MICROSOFT, microsoft_op, onnx_op
from aiopt.frontend.onnx.tensors import element_type
from aiopt.frontend.onnx.values import Value
from aiopt.frontend.onnx.windows import read_window
from aiopt.support.errors import ModelError
from aiopt.support.types import LOW_FLOATS


@onnx_op("QuantizeLinear", since=10)
@microsoft_op("QuantizeLinear")
def _quantize_linear(node: Node) -> Value:
    """x / scale has the type `precision`, else that of the scale; before opset 23 f32, as in ONNX Runtime."""
    x, scale, zero_point = node.input(0), node.input(1), node.optional(2)
    node.attributes.skip("saturate")  # speaks of floats of 8 bits, which element_type refuses
    element = _output_element(node, "ui8" if zero_point is None else zero_point.element)
    if zero_point is not None and zero_point.element != element:
        raise ModelError(f"output_dtype is {element}, but the zero point has elements of type {zero_point.element}")
    precision = node.attributes.get_int("precision", 0) if _version(node) >= 23 else onnx.TensorProto.FLOAT
    divided_in = element_type(precision, "the division") if precision else scale.element
    granularity = _granularity(node, x, scale, zero_point)
    split = granularity.split(node, x)
    scale = granularity.spread(node, scale)
    shift = granularity.spread(node, zero_point or zero(element))
    if _version(node) >= 23 and divided_in in LOW_FLOATS:
        operands = [cast(node, cast(node, value, divided_in), "f32") for value in (split, scale)]
        quotient = cast(node, cast(node, node.emit(ai.DivOp, *operands), divided_in), "f32")
        split, scale = quotient, scalar(quotient, 1)
    elif split.element != scale.element or divided_in != scale.element:
        split, scale = cast(node, split, "f32"), cast(node, scale, "f32")
    return reshape(node, node.emit(ai.QuantizeLinearOp, split, scale, shift), x.shape)


@onnx_op("DequantizeLinear", since=10)
@microsoft_op("DequantizeLinear")
def _dequantize_linear(node: Node) -> Value:
    x, scale, zero_point = node.input(0), node.input(1), node.optional(2)
    element = _output_element(node, scale.element, since=23)
    granularity = _granularity(node, x, scale, zero_point)
    spread = granularity.spread(node, scale)
    shift = granularity.spread(node, zero_point or zero(x.element))
    spread = spread if element == scale.element else cast(node, spread, "f32")
    out = node.emit(ai.DequantizeLinearOp, granularity.split(node, x), spread, shift)
    return reshape(node, cast(node, out, element), x.shape)


def _version(node: Node) -> int:
    """The opset whose rules hold; com.microsoft's operators of these names have those of opset 21."""
    return 21 if node.proto.domain == MICROSOFT else node.opset


def _output_element(node: Node, given: str, since: int = 21) -> str:
    code = node.attributes.get_int("output_dtype", 0) if _version(node) >= since else 0
    return element_type(code, "the result") if code else given


def _granularity(node: Node, x: Value, scale: Value, zero_point: Value | None) -> Granularity:
    axis = node.attributes.get_int("axis", 1) if _version(node) >= 13 else 1
    block = node.attributes.get_int("block_size", 0) if _version(node) >= 21 else 0
    if zero_point is not None and zero_point.shape != scale.shape and (zero_point.type.size, scale.type.size) != (1, 1):
        raise ModelError(f"scale {list(scale.shape)} and zero point {list(zero_point.shape)} must have the same shape")
    return Granularity(x.shape, scale, axis, block)


@onnx_op("DynamicQuantizeLinear", since=11)
def _dynamic_quantize_linear(node: Node) -> Sequence[Value]:
    """To ui8, so that 0 and all of the input are in range. An input of zeros has the scale 1, as in ONNX Runtime."""
    return dynamic_quantize(node, node.input(0))


def dynamic_quantize(node: Node, x: Value) -> tuple[Value, Value, Value]:
    """The tensor in ui8, its scale and its zero point."""
    axes, nought = list(range(x.rank)), scalar(x, 0)
    low, high = (
        node.emit(bound, node.emit(fold, x, axes=axes, keepdims=False), nought)
        for fold, bound in ((ai.ReduceMinOp, ai.MinimumOp), (ai.ReduceMaxOp, ai.MaximumOp))
    )
    step = node.emit(ai.DivOp, node.emit(ai.SubOp, high, low), scalar(x, 255))
    scale = node.emit(ai.SelectOp, node.emit(ai.EqualOp, low, high), scalar(x, 1), step)
    zero_point = node.emit(ai.QuantizeLinearOp, node.emit(ai.NegOp, low), scale, zero("ui8"))
    return node.emit(ai.QuantizeLinearOp, x, scale, zero_point), scale, zero_point


@onnx_op("MatMulInteger", since=10)
def _matmul_integer(node: Node) -> Value:
    lhs, rhs = node.input(0), node.input(1)
    return multiply_integers(node, lhs, rhs, node.optional(2), node.optional(3))


def multiply_integers(node: Node, lhs: Value, rhs: Value, lhs_zero: Value | None, rhs_zero: Value | None) -> Value:
    """The i32 product as numpy.matmul has it; zero points as ONNX has them."""
    zeros = by_row(node, lhs_zero or zero(lhs.element)), by_column(node, rhs_zero or zero(rhs.element))
    return matrix_product(node, lhs, rhs, lambda row, column: node.emit(ai.MatMulIntegerOp, row, column, *zeros))


def by_row(node: Node, parameter: Value) -> Value:
    """A parameter of the left matrix: one for all, [m] or [..., m, 1]."""
    parameter = collapsed(node, parameter)
    return reshape(node, parameter, (parameter.shape[0], 1)) if parameter.rank == 1 else parameter


def by_column(node: Node, parameter: Value) -> Value:
    """A parameter of the right matrix: one for all, [n] or [..., 1, n]."""
    return collapsed(node, parameter)


@onnx_op("QLinearMatMul", since=10)
def _qlinear_matmul(node: Node) -> Value:
    """Scales of 16 bits are widened: the factor of the sums is computed in f32."""
    a, b = node.input(0), node.input(3)
    a_scale, a_zero = (by_row(node, node.input(index)) for index in (1, 2))
    b_scale, b_zero = (by_column(node, node.input(index)) for index in (4, 5))
    y_scale, y_zero = (by_row(node, node.input(index)) for index in (6, 7))
    a_scale, b_scale, y_scale = (cast(node, scale, "f32") for scale in (a_scale, b_scale, y_scale))

    def multiply(row: Value, column: Value) -> Value:
        return node.emit(ai.QLinearMatMulOp, row, a_scale, a_zero, column, b_scale, b_zero, y_scale, y_zero)

    return matrix_product(node, a, b, multiply)


@onnx_op("ConvInteger", since=10)
def _conv_integer(node: Node) -> Value:
    x, weight = node.input(0), node.input(1)
    x_zero, w_zero = one_or_zero(node, 2, "x_zero_point", x.element), node.optional(3) or zero(weight.element)
    return _convolve_integers(node, x, weight, x_zero, w_zero)


@onnx_op("QLinearConv", since=10)
def _qlinear_conv(node: Node) -> Value:
    """saturate(round((sum + bias) * (x_scale * w_scale / y_scale)) + y_zero_point), in ONNX Runtime's order."""
    x, weight, bias = node.input(0), node.input(3), node.optional(8)
    x_scale, x_zero = one_value(node, 1, "x_scale"), one_value(node, 2, "x_zero_point")
    y_scale, y_zero = one_value(node, 6, "y_scale"), one_value(node, 7, "y_zero_point")
    sums = _convolve_integers(node, x, weight, x_zero, node.input(5))
    if bias is not None:
        sums = node.emit(ai.AddOp, sums, _by_channel(node, bias, sums, "bias"))
    w_scale = _by_channel(node, collapsed(node, node.input(4)), sums, "w_scale")
    factor = node.emit(ai.DivOp, node.emit(ai.MulOp, x_scale, w_scale), y_scale)
    return requantize(node, sums, factor, y_zero)


def _convolve_integers(node: Node, x: Value, weight: Value, x_zero: Value, w_zero: Value) -> Value:
    if weight.rank != x.rank:
        raise ModelError(f"input {list(x.shape)} and weight {list(weight.shape)} must have one rank")
    window = read_window(node, x.shape[2:], kernel=weight.shape[2:])
    return node.emit(
        ai.ConvIntegerOp,
        x,
        weight,
        x_zero,
        collapsed(node, w_zero),
        strides=window.strides,
        pads=window.pads,
        dilations=window.dilations,
        group=node.attributes.get_int("group", 1),
    )


def _by_channel(node: Node, parameter: Value, out: Value, role: str) -> Value:
    """One for all, or one for each channel of [N, C, *spatial]."""
    if parameter.rank == 0:
        return parameter
    if parameter.shape != out.shape[1:2]:
        raise ModelError(f"{role} must have the shape [{out.shape[1]}], but has {list(parameter.shape)}")
    return reshape(node, parameter, (parameter.shape[0], *[1] * (out.rank - 2)))
