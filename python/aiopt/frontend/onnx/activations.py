"""Activation functions, and those of them that operators name in an attribute."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError

GELU_CUBIC = 0.044715


@dataclass(frozen=True)
class Activation:
    """A function of a tensor and of as many numbers as it has defaults (alpha, beta)."""

    apply: Callable[..., Value]
    defaults: tuple[float, ...] = ()


def affine(node: Node, x: Value, alpha: float, beta: float) -> Value:
    """alpha * x + beta."""
    scaled = x if alpha == 1 else node.emit(ai.MulOp, x, scalar(x, alpha))
    return scaled if beta == 0 else node.emit(ai.AddOp, scaled, scalar(x, beta))


def clamp(node: Node, x: Value, low: float, high: float) -> Value:
    """min(max(x, low), high)."""
    return node.emit(ai.MinimumOp, node.emit(ai.MaximumOp, x, scalar(x, low)), scalar(x, high))


def gelu(node: Node, x: Value) -> Value:
    """x / 2 * (1 + erf(x / sqrt(2)))."""
    part = node.emit(ai.ErfOp, node.emit(ai.MulOp, x, scalar(x, math.sqrt(0.5))))
    return node.emit(ai.MulOp, affine(node, x, 0.5, 0), affine(node, part, 1, 1))


def tanh_gelu(node: Node, x: Value) -> Value:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))."""
    cube = node.emit(ai.MulOp, node.emit(ai.MulOp, x, x), x)
    line = node.emit(ai.AddOp, x, affine(node, cube, GELU_CUBIC, 0))
    part = node.emit(ai.TanhOp, affine(node, line, math.sqrt(2 / math.pi), 0))
    return node.emit(ai.MulOp, affine(node, x, 0.5, 0), affine(node, part, 1, 1))


def swish(node: Node, x: Value, alpha: float) -> Value:
    """x * sigmoid(alpha * x)."""
    return node.emit(ai.MulOp, x, node.emit(ai.SigmoidOp, affine(node, x, alpha, 0)))


def leaky_relu(node: Node, x: Value, alpha: float) -> Value:
    """relu(x) + alpha * min(x, 0): right at both infinities for any finite alpha."""
    negative = affine(node, node.emit(ai.MinimumOp, x, scalar(x, 0)), alpha, 0)
    return node.emit(ai.AddOp, node.emit(ai.ReluOp, x), negative)


def thresholded_relu(node: Node, x: Value, alpha: float) -> Value:
    """x above alpha, else 0."""
    return node.emit(ai.SelectOp, node.emit(ai.LessOp, scalar(x, alpha), x), x, scalar(x, 0))


def _scaled_tanh(node: Node, x: Value, alpha: float, beta: float) -> Value:
    return affine(node, node.emit(ai.TanhOp, affine(node, x, beta, 0)), alpha, 0)


def hard_sigmoid(node: Node, x: Value, alpha: float, beta: float) -> Value:
    """max(0, min(1, alpha * x + beta))."""
    return clamp(node, affine(node, x, alpha, beta), 0, 1)


def elu(node: Node, x: Value, alpha: float) -> Value:
    """x, or alpha * (exp(x) - 1) below 0."""
    below = affine(node, node.emit(ai.Expm1Op, x), alpha, 0)
    return node.emit(ai.SelectOp, node.emit(ai.LessOp, x, scalar(x, 0)), below, x)


def softsign(node: Node, x: Value) -> Value:
    """x / (1 + |x|)."""
    return node.emit(ai.DivOp, x, affine(node, node.emit(ai.AbsOp, x), 1, 1))


def softplus(node: Node, x: Value) -> Value:
    """log(exp(x) + 1) as max(x, 0) + log(1 + exp(-|x|)), which does not overflow."""
    power = node.emit(ai.ExpOp, node.emit(ai.NegOp, node.emit(ai.AbsOp, x)))
    return node.emit(ai.AddOp, node.emit(ai.ReluOp, x), node.emit(ai.Log1pOp, power))


_ACTIVATIONS: Mapping[str, Activation] = MappingProxyType(
    {
        "affine": Activation(affine, (1.0, 0.0)),
        "clip": Activation(clamp, (-math.inf, math.inf)),
        "elu": Activation(elu, (1.0,)),
        "hardsigmoid": Activation(hard_sigmoid, (0.2, 0.5)),
        "leakyrelu": Activation(leaky_relu, (0.01,)),
        "relu": Activation(lambda node, x: node.emit(ai.ReluOp, x)),
        "scaledtanh": Activation(_scaled_tanh, (1.0, 1.0)),
        "sigmoid": Activation(lambda node, x: node.emit(ai.SigmoidOp, x)),
        "softplus": Activation(softplus),
        "softsign": Activation(softsign),
        "tanh": Activation(lambda node, x: node.emit(ai.TanhOp, x)),
        "thresholdedrelu": Activation(thresholded_relu, (1.0,)),
    }
)


def find_activation(name: str) -> Activation:
    """By its name, whose case does not matter. Errors: ModelError if there is no such function."""
    if (found := _ACTIVATIONS.get(name.lower())) is None:
        raise ModelError(f"there is no activation '{name}' (there are: {', '.join(_ACTIVATIONS)})")
    return found
