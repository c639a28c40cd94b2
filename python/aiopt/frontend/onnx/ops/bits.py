"""Operators on the bits of elements."""

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.tensors import element_type
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError
from aiopt.support.types import item_bytes

_SHIFTS = {"LEFT": ai.ShiftLeftOp, "RIGHT": ai.ShiftRightOp}

for _name, _op in {"BitwiseAnd": ai.AndOp, "BitwiseOr": ai.OrOp, "BitwiseXor": ai.XorOp}.items():
    onnx_op(_name, since=18)(lambda node, op=_op: node.emit(op, node.input(0), node.input(1)))


@onnx_op("BitwiseNot", since=18)
def _bitwise_not(node: Node) -> Value:
    return node.emit(ai.NotOp, node.input(0))


@onnx_op("BitShift", since=11)
def _bit_shift(node: Node) -> Value:
    direction = node.attributes.get_string("direction", "")
    if direction not in _SHIFTS:
        raise ModelError(f"direction must be LEFT or RIGHT, not '{direction}'")
    return node.emit(_SHIFTS[direction], node.input(0), node.input(1))


@onnx_op("BitCast", since=26)
def _bitcast(node: Node) -> Value:
    """A byte that becomes a bool is true if it is not 0."""
    x = node.input(0)
    to = element_type(node.attributes.require("to", node.attributes.get_int("to", None)), "the result")
    if item_bytes(to) != item_bytes(x.element):
        raise ModelError(f"{to} and {x.element} are not of one width")
    return cast(node, x, to) if to in ("i1", x.element) else node.emit(ai.BitcastOp, x, to=to)
