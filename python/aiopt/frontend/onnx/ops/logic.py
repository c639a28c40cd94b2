"""Comparisons, truth values, and the choice between two tensors."""

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import Handler, onnx_op
from aiopt.frontend.onnx.values import Value


def _binary(op: type[Operation], swap: bool = False) -> Handler:
    first, second = (1, 0) if swap else (0, 1)
    return lambda node: node.emit(op, node.input(first), node.input(second))


for _name, _op, _swap, _since in (
    ("Equal", ai.EqualOp, False, 7),
    ("Less", ai.LessOp, False, 7),
    ("Greater", ai.LessOp, True, 7),
    ("LessOrEqual", ai.LessEqualOp, False, 12),
    ("GreaterOrEqual", ai.LessEqualOp, True, 12),
    ("And", ai.AndOp, False, 7),
    ("Or", ai.OrOp, False, 7),
    ("Xor", ai.XorOp, False, 7),
):
    onnx_op(_name, since=_since)(_binary(_op, _swap))


@onnx_op("Not")
def _not(node: Node) -> Value:
    return node.emit(ai.NotOp, node.input(0))


@onnx_op("Where", since=9)
def _where(node: Node) -> Value:
    return node.emit(ai.SelectOp, node.input(0), node.input(1), node.input(2))
