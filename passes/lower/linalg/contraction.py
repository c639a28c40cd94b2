"""matmul as linalg.generic, and what contractions have in common.

The loop order is part of the contract with the schedules: parallel loops first, then the reductions, and innermost the
last parallel loop, which walks the result (and one operand) by unit stride, so that plain loops vectorize.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith, linalg, tensor

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.lower.linalg.builder import (
    PARALLEL,
    REDUCTION,
    Body,
    Scalar,
    broadcast_map,
    constant,
    dims,
    element_type,
    empty,
    filled,
    generic,
    tensor_type,
)
from aiopt.passes.lower.linalg.elementwise import cast, scaled
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.errors import UnsupportedError
from aiopt.support.types import TensorType


def multiply_add(acc: str, element: str) -> Body:
    def body(x: Scalar, w: Scalar, total: Scalar) -> Scalar:
        return arith.addf(total, arith.mulf(cast(x, element, acc), cast(w, element, acc)))

    return body


def rounded(total: ir.Value, out: TensorType, acc: str) -> ir.Value:
    return total if acc == out.element else scaled(total, out, lambda x: cast(x, acc, out.element))


@lowers(ai.MatMulOp)
def _lower_matmul(op: ai.MatMulOp, lhs: Operand, rhs: Operand) -> ir.Value:
    """Loops (batch..., m, k, n); with packed columns (batch..., m, block, k, column in block)."""
    out, acc = type_of(op.results[0]), str(op.acc.value)
    total, batch, packed = TensorType(out.shape, acc), out.rank - 2, op.pack is not None
    loops = dims(out.rank + 1 + packed)
    m, *block, k, n = loops[batch:]
    init, suffix = filled(total, 0), 3 if packed else 2

    def leading(shape: Sequence[int]) -> list[ir.AffineExpr]:
        return broadcast_map(shape, out.shape[:-2])

    if packed:
        check_whole_blocks(op.python_attributes()["pack"], op.python_attributes()["columns"], op.interleave)
        init = split_axis(init, out.rank - 1, rhs.type.shape[-3])
    result = generic(
        [
            (lhs.value, [*leading(lhs.type.shape[:-2]), m, k]),
            (rhs.value, [*leading(rhs.type.shape[:-suffix]), *block, k, n]),
        ],
        (init, [*loops[:batch], m, *block, n]),
        [PARALLEL] * (batch + suffix - 1) + [REDUCTION, PARALLEL],
        multiply_add(acc, lhs.type.element),
    )
    if packed:
        result = tensor.CollapseShapeOp(tensor_type(total), result, split_groups(out.rank, out.rank - 1)).result
    return rounded(result, out, acc)


def check_whole_blocks(pack: int, total: int, interleave: ir.Attribute | None) -> None:
    """Packed weights without filling and pairs. Raises UnsupportedError."""
    if interleave is not None:
        raise UnsupportedError("convert-ai-to-linalg: weights in pairs (interleave) are for templates only")
    if total % pack:
        what = f"{total} columns or filters do not fill blocks of {pack}"
        raise UnsupportedError(f"convert-ai-to-linalg: {what}: run ai-select-route before, or pack them otherwise")


def split_axis(value: ir.Value, axis: int, group: int) -> ir.Value:
    """Split a dimension in (group, place in group)."""
    have = ir.RankedTensorType(value.type)
    shape = list(have.shape)
    wide = [*shape[:axis], group, shape[axis] // group, *shape[axis + 1 :]]
    kind = ir.RankedTensorType.get(wide, have.element_type)
    return tensor.ExpandShapeOp(kind, value, split_groups(len(shape), axis), [], wide).result


def split_groups(rank: int, axis: int) -> list[list[int]]:
    """The dimensions after `split_axis` that belong to each of `rank` dimensions before."""
    return [[i] if i < axis else [i, i + 1] if i == axis else [i + 1] for i in range(rank)]


def pad(value: ir.Value, kind: TensorType, low: list[int], high: list[int], border: float | Scalar) -> ir.Value:
    """The tensor with a border of one value around it; the tensor itself where there is none."""
    if not any(low) and not any(high):
        return value
    shape = [n + a + b for n, a, b in zip(kind.shape, low, high, strict=True)]
    outside = border if isinstance(border, ir.Value) else constant(border, element_type(kind))
    frame = linalg.fill(outside, outs=[empty(kind.with_shape(*shape))])
    if kind.size == 0:
        return frame
    ones = [1] * kind.rank
    return tensor.InsertSliceOp(value, frame, [], [], [], low, list(kind.shape), ones).result
