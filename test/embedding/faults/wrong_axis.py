"""Softmax is lowered along the axis before its own."""

from mlir import ir

from aiopt.dialects.ai import SoftmaxOp
from aiopt.passes.lower.linalg.rules import RULES, Operand

_right = RULES[SoftmaxOp]


def _wrong(op: SoftmaxOp, operand: Operand):
    op.operation.attributes["axis"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), op.axis.value - 1)
    return _right(op, operand)


RULES[SoftmaxOp] = _wrong
