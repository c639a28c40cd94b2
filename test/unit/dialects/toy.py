"""A dialect with an op of every form a class body can declare."""

from collections.abc import Sequence

import numpy as np
from mlir import ir

from aiopt.dialects.constraints import AnyTensor, FloatTensor
from aiopt.dialects.ext import Dialect, Operand, Result


class ToyDialect(Dialect, name="toy"):
    """For tests of dialects/ext.py."""


class JoinOp(ToyDialect.Operation, name="join"):
    first: Operand[AnyTensor]
    middle: Operand[FloatTensor] | None
    rest: Sequence[Operand[AnyTensor]]
    flag: ir.BoolAttr
    count: ir.IntegerAttr
    scale: ir.FloatAttr
    label: ir.StringAttr
    kind: ir.TypeAttr
    sizes: ir.DenseI64ArrayAttr
    left: Result[AnyTensor]
    right: Result[AnyTensor]

    @staticmethod
    def infer(first, middle, rest, *, sizes, **_):
        if sizes != [len(rest)]:
            raise ValueError(f"sizes must be [{len(rest)}]")
        return first, (middle or first)

    @staticmethod
    def reference(first, middle, rest, *, count, **_):
        return first + count, np.sum(rest)
