"""Operators on one element at a time, and the variadic ones that fold their inputs."""

from collections.abc import Callable

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation
from aiopt.frontend.onnx.forms import cast, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import Handler, onnx_op
from aiopt.frontend.onnx.tensors import element_type
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedAttributeError
from aiopt.support.types import FLOATS, largest


def _unary(op: type[Operation]) -> Handler:
    return lambda node: node.emit(op, node.input(0))


def _binary(op: type[Operation]) -> Handler:
    return lambda node: node.emit(op, node.input(0), node.input(1))


for _name, _op in {
    "Abs": ai.AbsOp,
    "Erf": ai.ErfOp,
    "Exp": ai.ExpOp,
    "Log": ai.LogOp,
    "Neg": ai.NegOp,
    "Relu": ai.ReluOp,
    "Sigmoid": ai.SigmoidOp,
    "Sqrt": ai.SqrtOp,
    "Tanh": ai.TanhOp,
}.items():
    onnx_op(_name, since=9 if _name == "Erf" else 7)(_unary(_op))

for _name, _op in {"Add": ai.AddOp, "Div": ai.DivOp, "Mul": ai.MulOp, "Sub": ai.SubOp}.items():
    onnx_op(_name)(_binary(_op))


@onnx_op("Identity")
def _identity(node: Node) -> Value:
    return node.input(0)


@onnx_op("Reciprocal")
def _reciprocal(node: Node) -> Value:
    x = node.input(0)
    return node.emit(ai.DivOp, scalar(x, 1), x)


@onnx_op("Pow")
def _pow(node: Node) -> Value:
    """Result of the base's type. Pow-12 lets the types differ: computed as floats, then rounded to the base's."""
    base, exponent = node.input(0), node.input(1)
    kind = next((value.element for value in (base, exponent) if value.element in FLOATS), "f64")
    power = node.emit(ai.PowOp, cast(node, base, kind), cast(node, exponent, kind))
    return cast(node, power, base.element)


def _fold_inputs(op: type[Operation]) -> Callable[[Node], Value]:
    def handler(node: Node) -> Value:
        first, *others = node.variadic()
        for other in others:
            first = node.emit(op, first, other)
        return first

    return handler


onnx_op("Max")(_fold_inputs(ai.MaximumOp))
onnx_op("Min")(_fold_inputs(ai.MinimumOp))
onnx_op("Sum")(_fold_inputs(ai.AddOp))


@onnx_op("Cast")
def _cast(node: Node) -> Value:
    # saturate and round_mode speak of types of 8 bits and fewer, which element_type refuses.
    node.attributes.skip("saturate", "round_mode")
    to = node.attributes.require("to", node.attributes.get_int("to", None))
    return cast(node, node.input(0), element_type(to, "the result"))


@onnx_op("Clip", until=10)
def _clip_by_attributes(node: Node) -> Value:
    x = node.input(0)
    low, high = node.attributes.get_float("min", None), node.attributes.get_float("max", None)
    return _clip(node, x, None if low is None else scalar(x, low), None if high is None else scalar(x, high))


@onnx_op("Clip", since=11)
def _clip_by_inputs(node: Node) -> Value:
    return _clip(node, node.input(0), _bound(node, 1), _bound(node, 2))


def _bound(node: Node, index: int) -> Value | None:
    """The bound as a scalar. Exporters also write a list of one, which must not widen a scalar."""
    bound = node.optional(index)
    if bound is None or bound.rank == 0:
        return bound
    if bound.type.size != 1:
        raise ModelError(f"input {index} must be a scalar, but has shape {list(bound.shape)}")
    return node.emit(ai.ReshapeOp, bound, shape=[])


def _clip(node: Node, x: Value, low: Value | None, high: Value | None) -> Value:
    """min(max(x, low), high). An absent bound is the type's last finite number, where infinities end."""
    if x.element in FLOATS:
        limit = largest(x.element)
        low, high = low or scalar(x, -limit), high or scalar(x, limit)
    if low is not None:
        x = node.emit(ai.MaximumOp, x, low)
    return x if high is None else node.emit(ai.MinimumOp, x, high)


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


@onnx_op("Dropout", until=11)
def _dropout(node: Node) -> Value:
    node.attributes.skip("ratio")
    return node.input(0)


@onnx_op("Dropout", since=12)
def _dropout_with_mode(node: Node) -> Value:
    """Inference alone: training_mode must be known to be false."""
    node.attributes.skip("seed")
    if node.optional(2) is not None and node.known(2, "training_mode").any():
        raise UnsupportedAttributeError("training_mode is true: export the model for inference")
    return node.input(0)
