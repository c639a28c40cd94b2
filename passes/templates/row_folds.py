"""Folds of rows in registers: several vectors of partial results, which are joined in a fixed order.

Sums of f32 are added in f32 at most CHAIN in a row, then in f64: the small terms of a long row are not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, vector

from aiopt.passes.lower.linalg.builder import constant
from aiopt.passes.templates.row_program import Fold, Step

CHAIN = 16

_NEUTRAL = {Fold.SUM: 0.0, Fold.MAX: float("-inf"), Fold.MIN: float("inf"), Fold.PEAK: float("-inf")}


def _larger(x: ir.Value, y: ir.Value) -> ir.Value:
    """The larger one, one instruction on x86; the second where there is a NaN."""
    return arith.select(arith.cmpf(arith.CmpFPredicate.OGT, x, y), x, y)


_COMBINE: dict[Fold, Callable[[ir.Value, ir.Value], ir.Value]] = {
    Fold.SUM: arith.addf,
    Fold.MAX: arith.maximumf,
    Fold.MIN: arith.minimumf,
    Fold.PEAK: _larger,
}


def neutral(step: Step, kind: ir.Type) -> ir.Value:
    """What changes no result of a fold, in all lanes."""
    return constant(_NEUTRAL[_fold(step)], kind)


def take(step: Step, value: ir.Value, total: ir.Value, valid: int) -> ir.Value:
    """A partial result with one more vector, which may be wider; its first `valid` lanes count."""
    kind = ir.VectorType(value.type)
    if valid < kind.shape[0]:
        bits = [lane < valid for lane in range(kind.shape[0])]
        flags = ir.VectorType.get(kind.shape, ir.IntegerType.get_signless(1))
        bits = ir.DenseElementsAttr.get([ir.BoolAttr.get(bit) for bit in bits], flags)
        mask = arith.ConstantOp(flags, bits).result  # pyright: ignore[reportArgumentType]: any attribute will do
        value = arith.select(mask, value, neutral(step, kind))
    return _COMBINE[_fold(step)](_fold_lanes(step, value, ir.VectorType(total.type).shape[0]), total)


def join(step: Step, parts: Sequence[ir.Value], kind: ir.VectorType) -> ir.Value:
    """Partial results as one vector, a sum in f64. Those wider than `kind` are cut into halves."""
    combine, parts = _COMBINE[_fold(step)], list(parts)
    while len(parts) > 1:
        pairs = [combine(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[2 * len(pairs) :]
    total = _fold_lanes(step, parts[0], kind.shape[0])
    return arith.extf(_wide(kind), total) if step.fold is Fold.SUM else total


def merge(step: Step, total: ir.Value, part: ir.Value) -> ir.Value:
    """Two results of `join` as one."""
    return _COMBINE[_fold(step)](total, part)


def empty(step: Step, kind: ir.VectorType) -> ir.Value:
    """The `join` of nothing."""
    return neutral(step, _wide(kind) if step.fold is Fold.SUM else kind)


def finish(step: Step, total: ir.Value, across: bool) -> ir.Value:
    """The value of each lane's row, or of the one row in all lanes; a sum divided by `count`, as f32."""
    kind = ir.VectorType.get(ir.VectorType(total.type).shape, ir.F32Type.get())
    value = total if across else vector.ExtractOp(_fold_lanes(step, total, 1), [], [0]).result
    if step.fold is Fold.SUM:
        value = arith.mulf(value, constant(1 / step.count, value.type)) if step.count != 1 else value
        value = arith.truncf(kind if across else kind.element_type, value)
    return value if across else vector.BroadcastOp(kind, value).result


def _fold_lanes(step: Step, total: ir.Value, wanted: int) -> ir.Value:
    """So many lanes of more: halves joined until they are left."""
    (lanes,), element = ir.VectorType(total.type).shape, ir.VectorType(total.type).element_type
    while lanes % 2 == 0 and lanes > wanted:
        lanes //= 2
        half = ir.VectorType.get([lanes], element)
        low, high = (vector.ExtractStridedSliceOp(half, total, [at], [lanes], [1]).result for at in (0, lanes))
        total = _COMBINE[_fold(step)](low, high)
    return total


def _fold(step: Step) -> Fold:
    assert step.fold is not None, "only folds are asked"
    return step.fold


def _wide(kind: ir.VectorType) -> ir.VectorType:
    return ir.VectorType.get(kind.shape, ir.F64Type.get())
