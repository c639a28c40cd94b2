"""Outlining a group swaps the operands of its subtraction."""

from aiopt.dialects.ai import SubOp
from aiopt.dialects.ext import operations
from aiopt.passes.graph.outline_kernels import OutlineKernels
from aiopt.passes.unit import Unit

_right = OutlineKernels.run


def _wrong(self: OutlineKernels, unit: Unit) -> None:
    _right(self, unit)
    for op in operations(unit.module):
        if isinstance(op, SubOp):
            lhs, rhs = op.operation.operands
            op.operation.operands[0] = rhs
            op.operation.operands[1] = lhs


OutlineKernels.run = _wrong
