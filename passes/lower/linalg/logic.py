"""Comparisons, truth values (bytes of 0 or 1 in memory), bits, and select."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.builder import Scalar, constant, element_type
from aiopt.passes.lower.linalg.elementwise import Expression, elementwise
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.types import FLOATS, UNSIGNED

# for ordered floats, signed and unsigned integers; NaN makes each false
_COMPARE: dict[type[Operation], tuple[arith.CmpFPredicate, arith.CmpIPredicate, arith.CmpIPredicate]] = {
    ai.EqualOp: (arith.CmpFPredicate.OEQ, arith.CmpIPredicate.eq, arith.CmpIPredicate.eq),
    ai.LessOp: (arith.CmpFPredicate.OLT, arith.CmpIPredicate.slt, arith.CmpIPredicate.ult),
    ai.LessEqualOp: (arith.CmpFPredicate.OLE, arith.CmpIPredicate.sle, arith.CmpIPredicate.ule),
}
_TRUTH: dict[type[Operation], Expression] = {
    ai.AndOp: arith.andi,
    ai.OrOp: arith.ori,
    ai.XorOp: arith.xori,
}


@lowers(*_COMPARE)
def _lower_comparison(op: Operation, lhs: Operand, rhs: Operand) -> ir.Value:
    ordered, signed, unsigned = _COMPARE[type(op)]

    def body(a: Scalar, b: Scalar) -> Scalar:
        if lhs.type.element in FLOATS:
            bit = arith.cmpf(ordered, a, b)
        else:
            bit = arith.cmpi(unsigned if lhs.type.element in UNSIGNED else signed, a, b)
        return arith.extui(ir.IntegerType.get_signless(8), bit)

    return elementwise([lhs, rhs], type_of(op.results[0]), body)


@lowers(*_TRUTH)
def _lower_truth(op: Operation, lhs: Operand, rhs: Operand) -> ir.Value:
    return elementwise([lhs, rhs], type_of(op.results[0]), _TRUTH[type(op)])


@lowers(ai.NotOp)
def _lower_not(op: ai.NotOp, operand: Operand) -> ir.Value:
    turned = 1 if operand.type.element == "i1" else -1
    return elementwise([operand], type_of(op.results[0]), lambda x: arith.xori(x, constant(turned, x.type)))


@lowers(ai.ShiftLeftOp, ai.ShiftRightOp)
def _lower_shift(op: Operation, lhs: Operand, rhs: Operand) -> ir.Value:
    """Machines shift by the low bits of the count only, and LLVM leaves a count beyond the width undefined. Seen as
    unsigned, a negative count is beyond it too."""
    keeps_sign = isinstance(op, ai.ShiftRightOp) and lhs.type.element not in UNSIGNED

    def body(x: Scalar, count: Scalar) -> Scalar:
        width = ir.IntegerType(x.type).width
        inside = arith.cmpi(arith.CmpIPredicate.ult, count, constant(width, x.type))
        count = arith.select(inside, count, constant(width - 1, x.type))
        if keeps_sign:
            return arith.shrsi(x, count)
        shift = arith.shli if isinstance(op, ai.ShiftLeftOp) else arith.shrui
        return arith.select(inside, shift(x, count), constant(0, x.type))

    return elementwise([lhs, rhs], type_of(op.results[0]), body)


@lowers(ai.BitcastOp)
def _lower_bitcast(op: ai.BitcastOp, operand: Operand) -> ir.Value:
    out = type_of(op.results[0])
    kind = element_type(out)
    return elementwise([operand], out, lambda x: x if x.type == kind else arith.bitcast(kind, x))


@lowers(ai.SelectOp)
def _lower_select(op: ai.SelectOp, condition: Operand, on_true: Operand, on_false: Operand) -> ir.Value:
    def body(flag: Scalar, a: Scalar, b: Scalar) -> Scalar:
        return arith.select(arith.cmpi(arith.CmpIPredicate.ne, flag, constant(0, flag.type)), a, b)

    return elementwise([condition, on_true, on_false], type_of(op.results[0]), body)
