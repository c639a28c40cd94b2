"""Reductions over axes."""

from collections.abc import Sequence

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation
from aiopt.frontend.onnx.forms import normal_axes, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import Handler, onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.types import INTEGERS


def _by_attribute(op: type[Operation]) -> Handler:
    """axes is an attribute; absent, all axes are reduced."""

    def handler(node: Node) -> Value:
        axes = node.attributes.get_ints("axes", None)
        return _reduce(node, op, node.input(0), range(node.input(0).rank) if axes is None else axes)

    return handler


def _by_input(op: type[Operation]) -> Handler:
    """axes is an input; absent or empty, all axes are reduced, or none if noop_with_empty_axes."""

    def handler(node: Node) -> Value:
        axes, noop = node.optional_ints(1, "axes"), node.attributes.get_bool("noop_with_empty_axes", False)
        every = [] if noop else range(node.input(0).rank)
        return _reduce(node, op, node.input(0), axes or every)

    return handler


def _reduce(node: Node, op: type[Operation], x: Value, axes: Sequence[int]) -> Value:
    keepdims, axes = node.attributes.get_bool("keepdims", True), normal_axes(axes, x.rank)
    if not axes:
        return x
    if op is not ai.ReduceMeanOp or x.element not in INTEGERS:
        return node.emit(op, x, axes=axes, keepdims=keepdims)
    total = node.emit(ai.ReduceSumOp, x, axes=axes, keepdims=keepdims)
    count = x.type.size // total.type.size if total.type.size else 1
    return node.emit(ai.DivOp, total, scalar(x, count))


for _name, _op, _since in (
    ("ReduceMax", ai.ReduceMaxOp, 18),
    ("ReduceMean", ai.ReduceMeanOp, 18),
    ("ReduceMin", ai.ReduceMinOp, 18),
    ("ReduceSum", ai.ReduceSumOp, 13),
):
    onnx_op(_name, until=_since - 1)(_by_attribute(_op))
    onnx_op(_name, since=_since)(_by_input(_op))
