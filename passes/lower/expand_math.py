"""ai-expand-math: elementary functions of f32 become arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func, math

from aiopt.passes.base import FunctionPass
from aiopt.passes.lower.math.builder import FloatBuilder
from aiopt.passes.lower.math.erf import erf
from aiopt.passes.lower.math.exp import exp
from aiopt.passes.lower.math.log import log
from aiopt.passes.lower.math.pow import power
from aiopt.passes.lower.math.tanh import tanh
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.passes.walk import ops_named

_UNARY: dict[type[ir.OpView], Callable[[ir.Value, FloatBuilder], ir.Value]] = {
    math.ExpOp: exp,
    math.LogOp: log,
    math.TanhOp: tanh,
    math.ErfOp: erf,
}
_NAMES = tuple(cls.OPERATION_NAME for cls in (*_UNARY, math.PowFOp))  # pyright: ignore[reportAttributeAccessIssue]


@dataclass(frozen=True)
class ExpandMath(FunctionPass):
    """Before: math.exp, log, tanh and erf of f32 or of vectors of f32, math.powf of these with a small constant
    exponent. After: arith ops without branches, exact to 4 units in the last place (aiopt/passes/lower/math).

    libm is scalar: a call of it keeps LLVM from vectorizing a loop. Other element types and powers stay as they are.
    `fma`: use math.fma, which is a call of libm on a CPU without the instruction.
    """

    name: ClassVar[str] = "ai-expand-math"
    requires: ClassVar[Level | None] = Level.LOOPS
    fma: bool = False

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> bool:
        changed = False
        for found in ops_named(function, *_NAMES):
            op, result = found.opview, found.results[0]
            if not _is_f32(result.type):
                continue
            with ir.InsertionPoint(op), op.location:
                expanded = _expand(op, FloatBuilder(result.type, self.fma))
            if expanded is not None:
                result.replace_all_uses_with(expanded)
                op.operation.erase()
                changed = True
        return changed


def _expand(op: ir.OpView, build: FloatBuilder) -> ir.Value | None:
    if isinstance(op, math.PowFOp):
        exponent = _constant_value(op.rhs)
        return None if exponent is None else power(op.lhs, exponent, build)
    return _UNARY[type(op)](op.operands[0], build)


def _is_f32(kind: ir.Type) -> bool:
    return isinstance(kind.element_type if isinstance(kind, ir.VectorType) else kind, ir.F32Type)


def _constant_value(value: ir.Value) -> float | None:
    """The number that a constant has in every element."""
    op = value.owner.opview if isinstance(value, ir.OpResult) else None
    if not isinstance(op, arith.ConstantOp):
        return None
    attribute = op.attributes["value"]
    if isinstance(attribute, ir.DenseElementsAttr):
        attribute = attribute.get_splat_value() if attribute.is_splat else None
    return attribute.value if isinstance(attribute, ir.FloatAttr) else None
