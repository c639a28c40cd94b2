"""Elementwise ops that change nothing, or that a cheaper op says as exactly.

Each pattern keeps every bit of the result, NaN and the sign of zero included. That is why these are missing:
x + 0.0 (-0.0 + 0.0 is 0.0), x - (-0.0) for the same reason, x * 0 (NaN, infinity, -0.0), x - x (NaN, infinity),
pow(x, 0.5) -> sqrt (they differ at -0.0 and -infinity), x / c -> x * (1/c) (rounding).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aiopt.dialects import ext
from aiopt.dialects.ai import AbsOp, AddOp, CastOp, DivOp, IdentityOp, MulOp, NegOp, PowOp, ReluOp, SubOp
from aiopt.passes.rewrite import Pattern, Rewriter, defining, splat_value
from aiopt.support.types import holds, is_float


def _is_zero(value: np.generic) -> bool:
    return bool(value == 0) and not np.signbit(value) if is_float(value.dtype) else bool(value == 0)


def _is_negative_zero(value: np.generic) -> bool:
    """The zero that changes no addend: -0.0 for floats (0.0 + -0.0 is 0.0), 0 for integers."""
    return bool(value == 0) and (not is_float(value.dtype) or bool(np.signbit(value)))


def _is_one(value: np.generic) -> bool:
    return bool(value == 1)


def _drop_operand(*sides: tuple[int, int], neutral: Callable[[np.generic], bool]) -> Pattern:
    """A pattern for `op(x, c) -> x` where c is neutral; each side is (index of x, index of c)."""

    def _drop_neutral_operand(op: ext.Operation, rewriter: Rewriter) -> bool:
        operands = op.operation.operands
        for kept, dropped in sides:
            x, scalar = operands[kept], splat_value(operands[dropped], rewriter.unit)
            if scalar is not None and neutral(scalar) and x.type == op.operation.results[0].type:
                return rewriter.replace(x)
        return False

    return _drop_neutral_operand


def _drop_identity(op: IdentityOp, rewriter: Rewriter) -> bool:
    """identity(x) -> x: tensors are values."""
    return rewriter.replace(op.input)


def _drop_same_cast(op: CastOp, rewriter: Rewriter) -> bool:
    """cast(x) to x's own type -> x."""
    return op.input.type == op.out.type and rewriter.replace(op.input)


def _merge_casts(op: CastOp, rewriter: Rewriter) -> bool:
    """cast(cast(x)) -> one cast, where the inner one is to a wider float type and so exact."""
    inner = defining(op.input)
    if not isinstance(inner, CastOp) or not holds(ext.type_of(op.input).element, ext.type_of(inner.input).element):
        return False
    return rewriter.replace(rewriter.create(CastOp, inner.input, to=ext.type_of(op.out).element))


def _merge_repeated(op: AbsOp | ReluOp, rewriter: Rewriter) -> bool:
    """relu(relu(x)) -> relu(x), abs(abs(x)) -> abs(x): the inner result is what the outer leaves alone."""
    return isinstance(defining(op.input), type(op)) and rewriter.replace(op.input)


def _cancel_negations(op: NegOp, rewriter: Rewriter) -> bool:
    """neg(neg(x)) -> x: the sign bit flips twice; integers wrap back."""
    inner = defining(op.input)
    return isinstance(inner, NegOp) and rewriter.replace(inner.input)


def _square_instead_of_power(op: PowOp, rewriter: Rewriter) -> bool:
    """pow(x, 2) -> x * x, which is the exact square rounded once: no pow is nearer. Alike at NaN, infinities, zeros."""
    exponent = splat_value(op.rhs, rewriter.unit)
    if exponent is None or exponent != _TWO or op.lhs.type != op.out.type:
        return False
    return rewriter.replace(rewriter.create(MulOp, op.lhs, op.lhs))


_TWO = 2.0
_FIRST, _SECOND = (0, 1), (1, 0)

PATTERNS: dict[type[ext.Operation], tuple[Pattern, ...]] = {
    IdentityOp: (_drop_identity,),
    CastOp: (_drop_same_cast, _merge_casts),
    AbsOp: (_merge_repeated,),
    ReluOp: (_merge_repeated,),
    NegOp: (_cancel_negations,),
    AddOp: (_drop_operand(_FIRST, _SECOND, neutral=_is_negative_zero),),
    SubOp: (_drop_operand(_FIRST, neutral=_is_zero),),
    MulOp: (_drop_operand(_FIRST, _SECOND, neutral=_is_one),),
    DivOp: (_drop_operand(_FIRST, neutral=_is_one),),
    PowOp: (_drop_operand(_FIRST, neutral=_is_one), _square_instead_of_power),
}
