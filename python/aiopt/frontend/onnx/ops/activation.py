"""Activation functions."""

import math

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError
from aiopt.support.types import FLOATS

_CELU_BY_ELU = 28  # the opset from which on Celu is defined by Elu


@onnx_op("LeakyRelu")
def _leaky_relu(node: Node) -> Value:
    return leaky_relu(node, node.input(0))


def leaky_relu(node: Node, x: Value) -> Value:
    """relu(x) + alpha * min(x, 0): right at both infinities for any finite alpha."""
    alpha = node.attributes.get_float("alpha", 0.01)
    negative = node.emit(ai.MinimumOp, x, scalar(x, 0))
    return node.emit(ai.AddOp, node.emit(ai.ReluOp, x), node.emit(ai.MulOp, negative, scalar(x, alpha)))


@onnx_op("HardSigmoid")
def _hard_sigmoid(node: Node) -> Value:
    alpha, beta = node.attributes.get_float("alpha", 0.2), node.attributes.get_float("beta", 0.5)
    return _hard_sigmoid_of(node, node.input(0), alpha, beta)


@onnx_op("HardSwish", since=14)
def _hard_swish(node: Node) -> Value:
    x = node.input(0)
    return node.emit(ai.MulOp, x, _hard_sigmoid_of(node, x, 1 / 6, 0.5))


def _hard_sigmoid_of(node: Node, x: Value, alpha: float, beta: float) -> Value:
    """max(0, min(1, alpha * x + beta))."""
    line = node.emit(ai.AddOp, node.emit(ai.MulOp, x, scalar(x, alpha)), scalar(x, beta))
    return node.emit(ai.MaximumOp, node.emit(ai.MinimumOp, line, scalar(x, 1)), scalar(x, 0))


@onnx_op("Elu")
def _elu(node: Node) -> Value:
    return _elu_of(node, node.input(0), node.attributes.get_float("alpha", 1.0))


@onnx_op("Selu")
def _selu(node: Node) -> Value:
    alpha = node.attributes.get_float("alpha", 1.67326319217681884765625)
    gamma = node.attributes.get_float("gamma", 1.05070102214813232421875)
    x = node.input(0)
    return node.emit(ai.MulOp, _elu_of(node, x, alpha), scalar(x, gamma))


@onnx_op("Celu", since=12)
def _celu(node: Node) -> Value:
    """alpha * elu(x / alpha), which for alpha > 0 is max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) of opset 12."""
    x, alpha = node.input(0), node.attributes.get_float("alpha", 1.0)
    if alpha <= 0 and node.opset < _CELU_BY_ELU:
        raise ModelError(f"alpha must be above 0, but is {alpha}")
    part = node.emit(ai.DivOp, x, scalar(x, alpha))
    return node.emit(ai.MulOp, _elu_of(node, part, 1.0), scalar(x, alpha))


def _elu_of(node: Node, x: Value, alpha: float) -> Value:
    """x, or alpha * (exp(x) - 1) below 0."""
    below = node.emit(ai.MulOp, node.emit(ai.Expm1Op, x), scalar(x, alpha))
    return node.emit(ai.SelectOp, node.emit(ai.LessOp, x, scalar(x, 0)), below, x)


@onnx_op("PRelu")
def _prelu(node: Node) -> Value:
    """slope * x below 0; the slope broadcasts to x, not the other way round."""
    x, slope = node.input(0), node.input(1)
    scaled = node.emit(ai.MulOp, x, slope)
    if scaled.shape != x.shape:
        raise ModelError(f"slope of shape {list(slope.shape)} does not broadcast to the input's {list(x.shape)}")
    return node.emit(ai.SelectOp, node.emit(ai.LessOp, x, scalar(x, 0)), scaled, x)


@onnx_op("ThresholdedRelu", since=10)
def _thresholded_relu(node: Node) -> Value:
    """x above alpha, else 0."""
    x, zero = node.input(0), scalar(node.input(0), 0)
    alpha = scalar(x, node.attributes.get_float("alpha", 1.0))
    return node.emit(ai.SelectOp, node.emit(ai.LessOp, alpha, x), x, zero)


@onnx_op("Shrink", since=9)
def _shrink(node: Node) -> Value:
    """x + bias below -lambd, x - bias above lambd, else 0; integers are computed in f64, which the attributes are."""
    given, attributes = node.input(0), node.attributes
    x = given if given.element in FLOATS else cast(node, given, "f64")
    bias, lambd = attributes.get_float("bias", 0.0), attributes.get_float("lambd", 0.5)
    below, above = (node.emit(ai.AddOp, x, scalar(x, shift)) for shift in (bias, -bias))
    inside = node.emit(ai.SelectOp, node.emit(ai.LessOp, scalar(x, lambd), x), above, scalar(x, 0))
    out = node.emit(ai.SelectOp, node.emit(ai.LessOp, x, scalar(x, -lambd)), below, inside)
    return cast(node, out, given.element)


@onnx_op("Softplus")
def _softplus(node: Node) -> Value:
    return _softplus_of(node, node.input(0))


@onnx_op("Mish", since=18)
def _mish(node: Node) -> Value:
    x = node.input(0)
    return node.emit(ai.MulOp, x, node.emit(ai.TanhOp, _softplus_of(node, x)))


def _softplus_of(node: Node, x: Value) -> Value:
    """log(exp(x) + 1) as max(x, 0) + log(1 + exp(-|x|)), which does not overflow."""
    power = node.emit(ai.ExpOp, node.emit(ai.NegOp, node.emit(ai.AbsOp, x)))
    return node.emit(ai.AddOp, node.emit(ai.ReluOp, x), node.emit(ai.Log1pOp, power))


@onnx_op("Softsign")
def _softsign(node: Node) -> Value:
    x = node.input(0)
    return node.emit(ai.DivOp, x, node.emit(ai.AddOp, node.emit(ai.AbsOp, x), scalar(x, 1)))


@onnx_op("Gelu", since=20)
def _gelu(node: Node) -> Value:
    """x / 2 * (1 + erf(x / sqrt(2))), or approximately x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))."""
    x, mode = node.input(0), node.attributes.get_string("approximate", "none")
    if mode not in ("none", "tanh"):
        raise ModelError(f"approximate must be none or tanh, not '{mode}'")
    if mode == "none":
        part = node.emit(ai.ErfOp, node.emit(ai.MulOp, x, scalar(x, math.sqrt(0.5))))
    else:
        cube = node.emit(ai.MulOp, node.emit(ai.MulOp, x, x), x)
        line = node.emit(ai.AddOp, x, node.emit(ai.MulOp, cube, scalar(x, 0.044715)))
        part = node.emit(ai.TanhOp, node.emit(ai.MulOp, line, scalar(x, math.sqrt(2 / math.pi))))
    half = node.emit(ai.MulOp, x, scalar(x, 0.5))
    return node.emit(ai.MulOp, half, node.emit(ai.AddOp, part, scalar(x, 1)))


@onnx_op("Swish", since=24)
def _swish(node: Node) -> Value:
    return _swish_of(node, node.input(0))


@onnx_op("SwiGLU", since=28)
def _swiglu(node: Node) -> Value:
    gate, linear = node.input(0), node.input(1)
    if gate.shape != linear.shape:
        raise ModelError(f"A and B must have one shape, but have {list(gate.shape)} and {list(linear.shape)}")
    return node.emit(ai.MulOp, _swish_of(node, gate), linear)


def _swish_of(node: Node, x: Value) -> Value:
    """x * sigmoid(alpha * x)."""
    alpha = node.attributes.get_float("alpha", 1.0)
    scaled = x if alpha == 1 else node.emit(ai.MulOp, x, scalar(x, alpha))
    return node.emit(ai.MulOp, x, node.emit(ai.SigmoidOp, scaled))
