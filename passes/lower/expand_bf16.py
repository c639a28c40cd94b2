"""ai-expand-bf16: conversions of bf16 for CPUs that have none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func, vector

from aiopt.dialects.ext import operations
from aiopt.passes.base import FunctionPass
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit

_CONVERSIONS = (arith.ExtFOp, arith.TruncFOp, arith.SIToFPOp, arith.UIToFPOp)
_DOT = "x86vector.avx512.dot"
_QUIET_NAN = 0x7FC0
_ALMOST_HALF = 0x7FFF  # one less than half of a unit in the last place of bf16


@dataclass(frozen=True)
class ExpandBf16(FunctionPass):
    """Before: arith.extf of bf16, arith.truncf of f32 and arith.sitofp or uitofp to bf16; scalars or vectors;
    x86vector.avx512.dot. After: integers become f32 first; the others are integer arithmetic on bits, bf16 being the
    high half of an f32; a dot is two products and sums in f32, the second of each pair first.

    LLVM would call a function of libgcc for the second, one element at a time. Rounds to nearest, ties to even; a NaN
    becomes a quiet NaN. (arith-expand does the same, but also breaks up ops that LLVM does better whole.)
    `native`: the CPU extends and rounds itself, so that these stay.
    """

    name: ClassVar[str] = "ai-expand-bf16"
    requires: ClassVar[Level | None] = Level.LOOPS
    native: bool = False

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> bool:
        changed = False
        for op in operations(function):
            if op.operation.name == _DOT and not self.native:
                with ir.InsertionPoint(op), op.location:
                    op.operation.results[0].replace_all_uses_with(_sum_pairs(*op.operation.operands))
                op.operation.erase()
                continue
            if not isinstance(op, _CONVERSIONS):
                continue
            source, result = op.operation.operands[0], op.operation.results[0]
            with ir.InsertionPoint(op), op.location:
                expanded = self._expanded(op, source, result.type)
            if expanded is not None:
                result.replace_all_uses_with(expanded)
                op.operation.erase()
                changed = True
        return changed

    def _expanded(self, op: ir.OpView, source: ir.Value, kind: ir.Type) -> ir.Value | None:
        elements = _element(source.type), _element(kind)
        if isinstance(op, (arith.SIToFPOp, arith.UIToFPOp)):
            if not isinstance(elements[1], ir.BF16Type):
                return None
            wide = type(op)(_like(kind, ir.F32Type.get()), source).result
            return arith.truncf(kind, wide) if self.native else _truncate(wide, kind)
        if self.native or not any(isinstance(element, ir.BF16Type) for element in elements):
            return None
        if isinstance(op, arith.TruncFOp):
            return _truncate(source, kind)
        single = _like(kind, ir.F32Type.get())
        extended = _extend(source, single)
        return extended if kind == single else arith.extf(kind, extended)


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.VectorType) else kind


def _extend(x: ir.Value, kind: ir.Type) -> ir.Value:
    bits = arith.extui(_integers(kind, 32), arith.bitcast(_integers(kind, 16), x))
    return arith.bitcast(kind, arith.shli(bits, _constant(16, bits.type)))


def _truncate(x: ir.Value, kind: ir.Type) -> ir.Value:
    """Add half a unit, less one bit where the kept part is even, and cut."""
    wide, narrow = _integers(kind, 32), _integers(kind, 16)
    bits = arith.bitcast(wide, x)
    sixteen = _constant(16, wide)
    odd = arith.andi(arith.shrui(bits, sixteen), _constant(1, wide))
    rounded = arith.addi(bits, arith.addi(odd, _constant(_ALMOST_HALF, wide)))
    is_nan = arith.cmpf(arith.CmpFPredicate.UNO, x, x)
    kept = arith.select(is_nan, _constant(_QUIET_NAN << 16, wide), rounded)
    return arith.bitcast(kind, arith.trunci(narrow, arith.shrui(kept, sixteen)))


def _sum_pairs(total: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
    """Products of bf16 are exact in f32, so that each sum is rounded once, as the instruction does."""
    words = _integers(total.type, 32)
    bits = [vector.BitCastOp(words, value).result for value in (a, b)]
    second = [arith.bitcast(total.type, arith.andi(x, _constant(-(1 << 16), words))) for x in bits]
    first = [arith.bitcast(total.type, arith.shli(x, _constant(16, words))) for x in bits]
    return arith.addf(arith.addf(total, arith.mulf(*second)), arith.mulf(*first))


def _integers(like: ir.Type, width: int) -> ir.Type:
    """Integers of a width, as many as `like` has elements."""
    return _like(like, ir.IntegerType.get_signless(width))


def _like(like: ir.Type, element: ir.Type) -> ir.Type:
    if isinstance(like, ir.VectorType):
        return ir.VectorType.get(like.shape, element, scalable=like.scalable_dims)
    return element


def _constant(value: int, kind: ir.Type) -> ir.Value:
    attribute = ir.IntegerAttr.get(_element(kind), value)
    if isinstance(kind, ir.VectorType):
        splat = ir.DenseElementsAttr.get_splat(kind, attribute)
        return arith.ConstantOp(kind, splat).result  # pyright: ignore[reportArgumentType]: any attribute will do
    return arith.ConstantOp(kind, attribute).result  # pyright: ignore[reportArgumentType]
