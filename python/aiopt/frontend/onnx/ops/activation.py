"""Activation functions."""

from aiopt.dialects import ai
from aiopt.frontend.onnx.activations import (
    elu,
    gelu,
    hard_sigmoid,
    leaky_relu,
    softplus,
    softsign,
    swish,
    tanh_gelu,
    thresholded_relu,
)
from aiopt.frontend.onnx.forms import cast, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError
from aiopt.support.types import FLOATS

_CELU_BY_ELU = 28  # the opset from which on Celu is defined by Elu


@onnx_op("LeakyRelu")
def _leaky_relu(node: Node) -> Value:
    return leaky_relu(node, node.input(0), node.attributes.get_float("alpha", 0.01))


@onnx_op("HardSigmoid")
def _hard_sigmoid(node: Node) -> Value:
    alpha, beta = node.attributes.get_float("alpha", 0.2), node.attributes.get_float("beta", 0.5)
    return hard_sigmoid(node, node.input(0), alpha, beta)


@onnx_op("HardSwish", since=14)
def _hard_swish(node: Node) -> Value:
    x = node.input(0)
    return node.emit(ai.MulOp, x, hard_sigmoid(node, x, 1 / 6, 0.5))


@onnx_op("Elu")
def _elu(node: Node) -> Value:
    return elu(node, node.input(0), node.attributes.get_float("alpha", 1.0))


@onnx_op("Selu")
def _selu(node: Node) -> Value:
    alpha = node.attributes.get_float("alpha", 1.67326319217681884765625)
    gamma = node.attributes.get_float("gamma", 1.05070102214813232421875)
    x = node.input(0)
    return node.emit(ai.MulOp, elu(node, x, alpha), scalar(x, gamma))


@onnx_op("Celu", since=12)
def _celu(node: Node) -> Value:
    """alpha * elu(x / alpha), which for alpha > 0 is max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) of opset 12."""
    x, alpha = node.input(0), node.attributes.get_float("alpha", 1.0)
    if alpha <= 0 and node.opset < _CELU_BY_ELU:
        raise ModelError(f"alpha must be above 0, but is {alpha}")
    part = node.emit(ai.DivOp, x, scalar(x, alpha))
    return node.emit(ai.MulOp, elu(node, part, 1.0), scalar(x, alpha))


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
    return thresholded_relu(node, node.input(0), node.attributes.get_float("alpha", 1.0))


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
    return softplus(node, node.input(0))


@onnx_op("Mish", since=18)
def _mish(node: Node) -> Value:
    x = node.input(0)
    return node.emit(ai.MulOp, x, node.emit(ai.TanhOp, softplus(node, x)))


@onnx_op("Softsign")
def _softsign(node: Node) -> Value:
    return softsign(node, node.input(0))


@onnx_op("Gelu", since=20)
def _gelu(node: Node) -> Value:
    """x / 2 * (1 + erf(x / sqrt(2))), or approximately x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))."""
    x, mode = node.input(0), node.attributes.get_string("approximate", "none")
    if mode not in ("none", "tanh"):
        raise ModelError(f"approximate must be none or tanh, not '{mode}'")
    return gelu(node, x) if mode == "none" else tanh_gelu(node, x)


@onnx_op("Swish", since=24)
def _swish(node: Node) -> Value:
    return swish(node, node.input(0), node.attributes.get_float("alpha", 1.0))


@onnx_op("SwiGLU", since=28)
def _swiglu(node: Node) -> Value:
    gate, linear = node.input(0), node.input(1)
    if gate.shape != linear.shape:
        raise ModelError(f"A and B must have one shape, but have {list(gate.shape)} and {list(linear.shape)}")
    return node.emit(ai.MulOp, swish(node, gate, node.attributes.get_float("alpha", 1.0)), linear)
