"""top_indices: each next element is searched among those that come after the last one."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, linalg, scf, tensor

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.lower.linalg.builder import Scalar, constant
from aiopt.passes.lower.linalg.elementwise import cast
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.passes.lower.linalg.scan import carried
from aiopt.support.types import FLOATS, UNSIGNED


@lowers(ai.TopIndicesOp)
def _lower_top_indices(op: ai.TopIndicesOp, x: Operand) -> ir.Value:
    """The axis of the result is a loop that runs in order and carries the last index, at first none (-1).

    A selection of count * size steps a row: count is small in the networks that have this op.
    """
    out, axis = type_of(op.results[0]), op.axis.value
    order = _Order(x.type.element, bool(op.largest.value))
    i64 = ir.IntegerType.get_signless(64)

    def body(last: Scalar) -> tuple[Scalar, Scalar]:
        rows = [linalg.IndexOp(at).result for at in range(out.rank)]

        def read(at: Scalar) -> Scalar:
            place = [*rows[:axis], arith.index_cast(ir.IndexType.get(), at), *rows[axis + 1 :]]
            return order.key(tensor.ExtractOp(x.value, place).result)

        is_first = arith.cmpi(arith.CmpIPredicate.slt, last, constant(0, i64))
        bound = read(arith.select(is_first, constant(0, i64), last))
        size = x.type.shape[axis]
        loop = scf.ForOp(constant(0, i64), constant(size, i64), constant(1, i64), [constant(-1, i64), bound])
        with ir.InsertionPoint(loop.body):
            at, (best, best_key) = loop.induction_variable, loop.inner_iter_args
            key = read(at)
            tie = arith.andi(order.equal(key, bound), arith.cmpi(arith.CmpIPredicate.sgt, at, last))
            is_left = arith.ori(is_first, arith.ori(order.before(bound, key), tie))
            has_none = arith.cmpi(arith.CmpIPredicate.slt, best, constant(0, i64))
            is_better = arith.andi(is_left, arith.ori(has_none, order.before(key, best_key)))
            scf.YieldOp([arith.select(is_better, at, best), arith.select(is_better, key, best_key)])
        return loop.results[0], loop.results[0]

    return carried([], out, "i64", -1, axis, body)


class _Order:
    """Which of two elements comes first, and whether neither does: NaN counts as the largest and as equal to NaN."""

    def __init__(self, element: str, largest: bool) -> None:
        self._element, self._largest = element, largest
        self._is_float = element in FLOATS

    def key(self, x: Scalar) -> Scalar:
        """What is compared: half floats as f32."""
        return cast(x, self._element, "f32") if self._element in ("f16", "bf16") else x

    def before(self, a: Scalar, b: Scalar) -> Scalar:
        first, second = (a, b) if self._largest else (b, a)
        if not self._is_float:
            predicate = arith.CmpIPredicate.ugt if self._element in UNSIGNED else arith.CmpIPredicate.sgt
            return arith.cmpi(predicate, first, second)
        only_first = arith.andi(_is_nan(first), arith.cmpf(arith.CmpFPredicate.ORD, second, second))
        return arith.ori(arith.cmpf(arith.CmpFPredicate.OGT, first, second), only_first)

    def equal(self, a: Scalar, b: Scalar) -> Scalar:
        if not self._is_float:
            return arith.cmpi(arith.CmpIPredicate.eq, a, b)
        return arith.ori(arith.cmpf(arith.CmpFPredicate.OEQ, a, b), arith.andi(_is_nan(a), _is_nan(b)))


def _is_nan(x: Scalar) -> Scalar:
    return arith.cmpf(arith.CmpFPredicate.UNO, x, x)
