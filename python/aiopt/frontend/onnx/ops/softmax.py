"""Softmax and its kin: along an axis from opset 13 on, before of the rows of a matrix."""

import math
from collections.abc import Callable

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast, normal_axis, reshape, steps
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.ops.reduce import place_of_extreme
from aiopt.frontend.onnx.registry import Handler, onnx_op
from aiopt.frontend.onnx.values import Value

Along = Callable[[Node, Value, int], Value]


def _of_matrix(along: Along) -> Handler:
    """The input is flattened to a matrix whose rows run from `axis` to the end."""

    def handler(node: Node) -> Value:
        x, given = node.input(0), node.attributes.get_int("axis", 1)
        axis = x.rank if given == x.rank else normal_axis(given, x.rank)
        if x.rank and axis == x.rank - 1:
            return along(node, x, axis)
        matrix = reshape(node, x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))
        return reshape(node, along(node, matrix, 1), x.shape)

    return handler


def _of_axis(along: Along) -> Handler:
    def handler(node: Node) -> Value:
        x = node.input(0)
        return along(node, x, normal_axis(node.attributes.get_int("axis", -1), x.rank))

    return handler


def _softmax(node: Node, x: Value, axis: int) -> Value:
    return node.emit(ai.SoftmaxOp, x, axis=axis)


def _log_softmax(node: Node, x: Value, axis: int) -> Value:
    """(x - peak) - log(sum(exp(x - peak)))."""
    shifted = node.emit(ai.SubOp, x, node.emit(ai.ReduceMaxOp, x, axes=[axis], keepdims=True))
    total = node.emit(ai.ReduceSumOp, node.emit(ai.ExpOp, shifted), axes=[axis], keepdims=True)
    return node.emit(ai.SubOp, shifted, node.emit(ai.LogOp, total))


def _hardmax(node: Node, x: Value, axis: int) -> Value:
    """1 at the first of the largest elements, else 0."""
    if not x.type.size:
        return x
    place = place_of_extreme(node, x, ai.ReduceMaxOp, axis, last=False, keepdims=True)
    return cast(node, node.emit(ai.EqualOp, place, steps(x.shape[axis], axis, x.rank)), x.element)


for _name, _along in {"Softmax": _softmax, "LogSoftmax": _log_softmax, "Hardmax": _hardmax}.items():
    onnx_op(_name, until=12)(_of_matrix(_along))
    onnx_op(_name, since=13)(_of_axis(_along))
