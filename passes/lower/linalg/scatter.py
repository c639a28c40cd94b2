"""scatter: a copy of the input, then writes one after the other."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith, scf, tensor

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.builder import Scalar, constant, dims, pointwise
from aiopt.passes.lower.linalg.elementwise import BINARY, computed
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.types import FLOATS, UNSIGNED

Element = Callable[[ir.Value, list[Scalar]], ir.Value]  # a tensor with one of its elements replaced
_FOLDS: dict[str, type[Operation]] = {"add": ai.AddOp, "mul": ai.MulOp, "max": ai.MaximumOp, "min": ai.MinimumOp}


@lowers(ai.ScatterOp)
def _lower_scatter(op: ai.ScatterOp, x: Operand, indices: Operand, updates: Operand) -> ir.Value:
    """An update whose index lies outside writes back what it found."""
    out = type_of(op.results[0])
    copy = pointwise([(x.value, dims(out.rank))], out, lambda v: v)
    if updates.type.size == 0:
        return copy
    at, source = indices.value, updates.value

    def row(total: ir.Value, i: Scalar) -> ir.Value:
        place, inside = _place(tensor.ExtractOp(at, [i]).result, out.shape[0])

        def element(inner: ir.Value, rest: list[Scalar]) -> ir.Value:
            old = tensor.ExtractOp(inner, [place, *rest]).result
            new = _combined(op, old, tensor.ExtractOp(source, [i, *rest]).result, out.element)
            return tensor.InsertOp(arith.select(inside, new, old), inner, [place, *rest]).result

        return _nest(total, list(out.shape[1:]), [], element)

    return _loop(copy, indices.type.shape[0], row)


def _combined(op: ai.ScatterOp, old: Scalar, update: Scalar, element: str) -> Scalar:
    reduction = op.reduction.value
    if reduction == "none":
        return update
    floating, signed, unsigned = BINARY[_FOLDS[reduction]]
    fold = floating if element in FLOATS else unsigned if element in UNSIGNED else signed
    return computed(fold, element)(old, update)


def _place(at: Scalar, size: int) -> tuple[Scalar, Scalar]:
    """The index as a place that is there, and whether it is the one that was meant."""
    zero, end = constant(0, at.type), constant(size, at.type)
    at = arith.select(arith.cmpi(arith.CmpIPredicate.slt, at, zero), arith.addi(at, end), at)
    inside = arith.cmpi(arith.CmpIPredicate.ult, at, end)
    return arith.index_cast(ir.IndexType.get(), arith.select(inside, at, zero)), inside


def _nest(
    total: ir.Value, extents: list[int], places: list[Scalar], element: Callable[[ir.Value, list[Scalar]], ir.Value]
) -> ir.Value:
    if not extents:
        return element(total, places)
    return _loop(total, extents[0], lambda inner, i: _nest(inner, extents[1:], [*places, i], element))


def _loop(total: ir.Value, extent: int, body: Callable[[ir.Value, Scalar], ir.Value]) -> ir.Value:
    index = ir.IndexType.get()
    loop = scf.ForOp(constant(0, index), constant(extent, index), constant(1, index), [total])
    with ir.InsertionPoint(loop.body):
        scf.YieldOp([body(loop.inner_iter_args[0], loop.induction_variable)])
    return loop.results[0]
