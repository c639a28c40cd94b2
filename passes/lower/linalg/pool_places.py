"""Places of maxima in the windows of pooling."""

from __future__ import annotations

from math import prod

from mlir import ir
from mlir.dialects import arith, linalg, tensor

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.lower.linalg.builder import (
    PARALLEL,
    REDUCTION,
    Scalar,
    constant,
    dims,
    filled,
    generic,
    is_float,
    pointwise,
    tensor_type,
)
from aiopt.passes.lower.linalg.elementwise import cast
from aiopt.passes.lower.linalg.reduction import computed_as, largest_of_windows
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.types import TensorType


@lowers(ai.MaxPoolPlacesOp)
def _lower_max_pool_places(op: ai.MaxPoolPlacesOp, x: Operand) -> ir.Value:
    """The smallest place that holds the maximum: places rise in the order of the taps."""
    out, spatial, source = type_of(op.results[0]), x.type.shape[2:], x.value
    element, acc = x.type.element, computed_as(x.type.element)
    maxima = largest_of_windows(op, x, out.shape, False)
    kernel, strides, dilations, pads = (list(part) for part in (op.kernel, op.strides, op.dilations, op.pads))
    rank, index, none = out.rank - 2, ir.IndexType.get(), prod(spatial)
    loops = dims(2 + 2 * rank)

    def body(maximum: Scalar, _: Scalar, first: Scalar) -> Scalar:
        places, inside, flat = [], None, constant(0, index)
        for i in range(rank):
            at = arith.muli(linalg.IndexOp(2 + i).result, constant(strides[i], index))
            tap = arith.muli(linalg.IndexOp(2 + rank + i).result, constant(dilations[i], index))
            place = arith.subi(arith.addi(at, tap), constant(pads[i], index))
            clamped = arith.maxsi(arith.minsi(place, constant(spatial[i] - 1, index)), constant(0, index))
            fits = arith.cmpi(arith.CmpIPredicate.eq, place, clamped)
            inside = fits if inside is None else arith.andi(inside, fits)
            flat = arith.addi(arith.muli(flat, constant(spatial[i], index)), clamped)
            places.append(clamped)
        value = tensor.ExtractOp(source, [linalg.IndexOp(0).result, linalg.IndexOp(1).result, *places]).result
        hit = arith.andi(inside, _same(cast(value, element, acc), maximum))
        found = arith.select(hit, arith.index_cast(first.type, flat), constant(none, first.type))
        return arith.minsi(first, found)

    taps = tensor.EmptyOp(kernel, tensor_type(x.type).element_type).result  # gives the window loops their bounds
    first = generic(
        [(maxima, loops[: 2 + rank]), (taps, loops[2 + rank :])],
        (filled(TensorType(out.shape, "i64"), none), loops[: 2 + rank]),
        [PARALLEL] * (2 + rank) + [REDUCTION] * rank,
        body,
    )

    def known(place: Scalar) -> Scalar:
        missing = arith.cmpi(arith.CmpIPredicate.eq, place, constant(none, place.type))
        return arith.select(missing, constant(-1, place.type), place)

    return pointwise([(first, dims(out.rank))], out, known)


def _same(x: Scalar, y: Scalar) -> Scalar:
    if not is_float(x.type):
        return arith.cmpi(arith.CmpIPredicate.eq, x, y)
    neither = (arith.cmpf(arith.CmpFPredicate.UNO, value, value) for value in (x, y))
    return arith.ori(arith.cmpf(arith.CmpFPredicate.OEQ, x, y), arith.andi(*neither))
