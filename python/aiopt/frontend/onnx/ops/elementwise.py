"""Operators on one element at a time, and the variadic ones that fold their inputs."""

from collections.abc import Callable

import numpy as np

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation
from aiopt.frontend.onnx.builder import full
from aiopt.frontend.onnx.forms import cast, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import Handler, onnx_op
from aiopt.frontend.onnx.tensors import element_type
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedAttributeError
from aiopt.support.types import FLOATS, UNSIGNED, largest

_MOD_OF_FLOATS = 28  # before, Mod with fmod=0 was for integers alone


def _unary(op: type[Operation]) -> Handler:
    return lambda node: node.emit(op, node.input(0))


def _binary(op: type[Operation]) -> Handler:
    return lambda node: node.emit(op, node.input(0), node.input(1))


for _since, _names in {
    7: "Abs Acos Asin Atan Ceil Cos Exp Floor Log Neg Relu Sigmoid Sin Sqrt Tan Tanh",
    9: "Acosh Asinh Atanh Cosh Erf Sinh",
    11: "Round",
}.items():
    for _name in _names.split():
        onnx_op(_name, since=_since)(_unary(getattr(ai, f"{_name}Op")))

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


@onnx_op("Mean")
def _mean(node: Node) -> Value:
    total = _fold_inputs(ai.AddOp)(node)
    return node.emit(ai.DivOp, total, scalar(total, len(node.inputs)))


onnx_op("Max")(_fold_inputs(ai.MaximumOp))
onnx_op("Min")(_fold_inputs(ai.MinimumOp))
onnx_op("Sum")(_fold_inputs(ai.AddOp))


@onnx_op("Cast")
def _cast(node: Node) -> Value:
    # saturate and round_mode speak of types of 8 bits and fewer, which element_type refuses.
    node.attributes.skip("saturate", "round_mode")
    to = node.attributes.require("to", node.attributes.get_int("to", None))
    return cast(node, node.input(0), element_type(to, "the result"))


@onnx_op("CastLike", since=15)
def _cast_like(node: Node) -> Value:
    node.attributes.skip("saturate", "round_mode")
    return cast(node, node.input(0), node.input(1).element)


@onnx_op("Sign", since=9)
def _sign(node: Node) -> Value:
    """1, -1, or x itself, which is 0 or NaN."""
    x = node.input(0)
    zero, one = scalar(x, 0), scalar(x, 1)
    if x.element not in UNSIGNED:
        x = node.emit(ai.SelectOp, node.emit(ai.LessOp, x, zero), scalar(x, -1), x)
    return node.emit(ai.SelectOp, node.emit(ai.LessOp, zero, x), one, x)


@onnx_op("IsNaN", since=9)
def _is_nan(node: Node) -> Value:
    x = node.input(0)
    return node.emit(ai.NotOp, node.emit(ai.EqualOp, x, x))


@onnx_op("IsInf", since=10)
def _is_inf(node: Node) -> Value:
    x = node.input(0)
    signs = [
        sign for sign, name in ((-1, "negative"), (1, "positive")) if node.attributes.get_bool(f"detect_{name}", True)
    ]
    if not signs:
        return full(x.shape, np.array(False))
    either = node.emit(ai.AbsOp, x) if len(signs) == 2 else x
    return node.emit(ai.EqualOp, either, scalar(x, signs[-1] * np.inf))


@onnx_op("Mod", since=10)
def _mod(node: Node) -> Value:
    """fmod=1: the remainder has the sign of the dividend. fmod=0: of the divisor, a zero of floats too."""
    x, y = node.input(0), node.input(1)
    rest = node.emit(ai.RemainderOp, x, y)
    if node.attributes.get_bool("fmod", False) or x.element in UNSIGNED:
        return rest
    if x.element in FLOATS and node.opset < _MOD_OF_FLOATS:
        raise ModelError("floats need fmod=1")
    zero = scalar(rest, 0)
    signs = [node.emit(ai.LessOp, value, zero) for value in (rest, y)]
    moved = node.emit(ai.SelectOp, node.emit(ai.XorOp, *signs), node.emit(ai.AddOp, rest, y), rest)
    nothing = node.emit(ai.SelectOp, signs[1], scalar(rest, -0.0), zero) if x.element in FLOATS else zero
    return node.emit(ai.SelectOp, node.emit(ai.EqualOp, rest, zero), nothing, moved)


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


@onnx_op("Dropout", until=11)
def _dropout(node: Node) -> list[Value]:
    """The mask, of bools since opset 10, is all zeros: the text is silent, ONNX Runtime is not."""
    node.attributes.skip("ratio")
    x = node.input(0)
    return _with_mask(node, x, np.zeros((), np.bool_ if node.opset >= 10 else x.type.dtype))


def _with_mask(node: Node, x: Value, mask: np.ndarray) -> list[Value]:
    return [x, full(x.shape, mask)] if any(node.outputs[1:]) else [x]


@onnx_op("Dropout", since=12)
def _dropout_with_mode(node: Node) -> list[Value]:
    """Inference alone: training_mode must be known to be false."""
    node.attributes.skip("seed")
    if node.optional(2) is not None and node.known(2, "training_mode").any():
        raise UnsupportedAttributeError("training_mode is true: export the model for inference")
    return _with_mask(node, node.input(0), np.array(True))
