"""A fault in a pass: whatever is outlined, its relus become sigmoids."""

from aiopt.dialects.ai import ReluOp, SigmoidOp
from aiopt.passes.graph.outline_kernels import OutlineKernels
from aiopt.passes.rewrite import rewrite

_right = OutlineKernels.run


def _wrong(self, unit):
    _right(self, unit)
    rewrite(unit, {ReluOp: [lambda op, rewriter: rewriter.replace(rewriter.create(SigmoidOp, op.input))]})


OutlineKernels.run = _wrong
