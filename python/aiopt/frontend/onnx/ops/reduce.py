"""Reductions over axes, and the places of extremes."""

from collections.abc import Callable, Sequence

import numpy as np

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation
from aiopt.frontend.onnx.forms import cast, normal_axes, normal_axis, reshape, scalar, steps
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import Handler, onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError
from aiopt.support.types import FLOATS

Reduce = Callable[[Node, Value, list[int], bool], Value]


def _by_attribute(reduce: Reduce) -> Handler:
    """axes is an attribute; absent, all axes are reduced."""

    def handler(node: Node) -> Value:
        axes = node.attributes.get_ints("axes", None)
        return _over(node, reduce, range(node.input(0).rank) if axes is None else axes)

    return handler


def _by_input(reduce: Reduce) -> Handler:
    """axes is an input; absent or empty, all axes are reduced, or none if noop_with_empty_axes."""

    def handler(node: Node) -> Value:
        axes, noop = node.optional_ints(1, "axes"), node.attributes.get_bool("noop_with_empty_axes", False)
        return _over(node, reduce, axes or ([] if noop else range(node.input(0).rank)))

    return handler


def _over(node: Node, reduce: Reduce, axes: Sequence[int]) -> Value:
    return reduce(
        node, node.input(0), normal_axes(axes, node.input(0).rank), node.attributes.get_bool("keepdims", True)
    )


def _fold(op: type[Operation]) -> Reduce:
    def reduce(node: Node, x: Value, axes: list[int], keepdims: bool) -> Value:
        return node.emit(op, x, axes=axes, keepdims=keepdims) if axes else x

    return reduce


_sum = _fold(ai.ReduceSumOp)


def _extreme(op: type[Operation]) -> Reduce:
    """Bools are numbers 0 and 1."""

    def reduce(node: Node, x: Value, axes: list[int], keepdims: bool) -> Value:
        number = cast(node, x, "ui8") if x.element == "i1" else x
        return cast(node, _fold(op)(node, number, axes, keepdims), x.element)

    return reduce


def _mean(node: Node, x: Value, axes: list[int], keepdims: bool) -> Value:
    if x.element in FLOATS:
        return _fold(ai.ReduceMeanOp)(node, x, axes, keepdims)
    total = _sum(node, x, axes, keepdims)
    count = x.type.size // total.type.size if total.type.size else 1
    return node.emit(ai.DivOp, total, scalar(x, count))


def _sum_square(node: Node, x: Value, axes: list[int], keepdims: bool) -> Value:
    return _sum(node, node.emit(ai.MulOp, x, x), axes, keepdims)


def _sum_absolute(node: Node, x: Value, axes: list[int], keepdims: bool) -> Value:
    return _sum(node, node.emit(ai.AbsOp, x), axes, keepdims)


def _as_float(reduce: Reduce) -> Reduce:
    """Integers are computed in f64 and cut to integers again."""

    def wide(node: Node, x: Value, axes: list[int], keepdims: bool) -> Value:
        given = x if x.element in FLOATS else cast(node, x, "f64")
        return cast(node, reduce(node, given, axes, keepdims), x.element)

    return wide


def _root_of_squares(node: Node, x: Value, axes: list[int], keepdims: bool) -> Value:
    """In f32 or f64: squares of f16 overflow."""
    wide = cast(node, x, "f64" if x.element == "f64" else "f32")
    return cast(node, node.emit(ai.SqrtOp, _sum_square(node, wide, axes, keepdims)), x.element)


def _log_sum(node: Node, x: Value, axes: list[int], keepdims: bool) -> Value:
    return node.emit(ai.LogOp, _sum(node, x, axes, keepdims))


def _log_sum_exp(node: Node, x: Value, axes: list[int], keepdims: bool) -> Value:
    """peak + log(sum(exp(x - peak))), which does not overflow; an infinite peak is left out."""
    peak = _fold(ai.ReduceMaxOp)(node, x, axes, True)
    infinite = node.emit(ai.EqualOp, node.emit(ai.AbsOp, peak), scalar(x, np.inf))
    peak = node.emit(ai.SelectOp, infinite, scalar(x, 0), peak)
    total = _sum(node, node.emit(ai.ExpOp, node.emit(ai.SubOp, x, peak)), axes, True)
    out = node.emit(ai.AddOp, node.emit(ai.LogOp, total), peak)
    kept = [size for axis, size in enumerate(out.shape) if keepdims or axis not in axes]
    return reshape(node, out, kept)


for _name, _reduce, _since in (
    ("ReduceL1", _sum_absolute, 18),
    ("ReduceL2", _as_float(_root_of_squares), 18),
    ("ReduceLogSum", _as_float(_log_sum), 18),
    ("ReduceLogSumExp", _as_float(_log_sum_exp), 18),
    ("ReduceMax", _extreme(ai.ReduceMaxOp), 18),
    ("ReduceMean", _mean, 18),
    ("ReduceMin", _extreme(ai.ReduceMinOp), 18),
    ("ReduceProd", _fold(ai.ReduceProdOp), 18),
    ("ReduceSum", _sum, 13),
    ("ReduceSumSquare", _sum_square, 18),
):
    onnx_op(_name, until=_since - 1)(_by_attribute(_reduce))
    onnx_op(_name, since=_since)(_by_input(_reduce))


def place_of_extreme(node: Node, x: Value, op: type[Operation], axis: int, last: bool, keepdims: bool) -> Value:
    """Where along an axis the first (or last) of the largest or smallest elements is, i64; NaN wins."""
    if not x.shape[axis]:
        raise ModelError(f"axis {axis} of shape {list(x.shape)} has no elements to choose from")
    found = node.emit(ai.EqualOp, x, node.emit(op, x, axes=[axis], keepdims=True))
    if x.element in FLOATS:  # where the extreme is NaN it equals nothing
        found = node.emit(ai.OrOp, found, node.emit(ai.NotOp, node.emit(ai.EqualOp, x, x)))
    places = steps(x.shape[axis], axis, x.rank)
    fold, nowhere = (ai.ReduceMaxOp, -1) if last else (ai.ReduceMinOp, x.shape[axis])
    at = node.emit(ai.SelectOp, found, places, scalar(places, nowhere))
    return node.emit(fold, at, axes=[axis], keepdims=keepdims)


def _place(op: type[Operation]) -> Handler:
    """select_last_index came with opset 12."""

    def handler(node: Node) -> Value:
        x, attributes = node.input(0), node.attributes
        axis = normal_axis(attributes.get_int("axis", 0), x.rank)
        last = node.opset >= 12 and attributes.get_bool("select_last_index", False)
        return place_of_extreme(node, x, op, axis, last, attributes.get_bool("keepdims", True))

    return handler


onnx_op("ArgMax")(_place(ai.ReduceMaxOp))
onnx_op("ArgMin")(_place(ai.ReduceMinOp))
