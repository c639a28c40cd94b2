"""Contractions of integers: sums of products in i32, in the loop orders of those of floats (see contraction.py)."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith, tensor

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.lower.linalg.builder import (
    PARALLEL,
    REDUCTION,
    Body,
    Scalar,
    dims,
    filled,
    generic,
    tensor_type,
    zero,
)
from aiopt.passes.lower.linalg.contraction import pad, split_axis, split_groups
from aiopt.passes.lower.linalg.conv import Window, convolve, plain_channels
from aiopt.passes.lower.linalg.elementwise import cast, elementwise
from aiopt.passes.lower.linalg.quantize import quantized
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.types import TensorType


def _sum_of_products(x: Operand, x_zero_point: Operand, w: Operand, w_zero_point: Operand) -> Body:
    """total + (x - x_zero_point) * (w - w_zero_point); zero points that are splats are no arguments of the body."""

    def body(x_step: Scalar, w_step: Scalar, *others: Scalar) -> Scalar:
        *shifts, total = others
        given = iter(shifts)
        factors = []
        for step, owner, zero_point in ((x_step, x, x_zero_point), (w_step, w, w_zero_point)):
            factor, element = cast(step, owner.type.element, "i32"), owner.type.element
            if zero_point.splat is None:
                factor = arith.subi(factor, cast(next(given), element, "i32"))
            elif zero_point.splat != 0:
                factor = arith.subi(factor, cast(zero_point.scalar(), element, "i32"))
            factors.append(factor)
        return arith.addi(total, arith.muli(*factors))

    return body


def _multiply(
    lhs: Operand, rhs: Operand, lhs_zero_point: Operand, rhs_zero_point: Operand, out: TensorType
) -> ir.Value:
    """Loops (batch..., m, k, n)."""
    loops, batch = dims(out.rank + 1), out.rank - 2
    lead, (m, k, n) = loops[:batch], loops[batch:]
    inputs = [(lhs, [*lead, m, k]), (rhs, [*lead, k, n])]
    shifts = [(lhs_zero_point, [*lead, m, n]), (rhs_zero_point, [*lead, m, n])]
    inputs += [(shift, order) for shift, order in shifts if shift.splat is None]
    sizes = dict(zip(map(str, loops), [*out.shape[:-1], lhs.type.shape[-1], out.shape[-1]], strict=True))
    return generic(
        [(operand.value, _aligned(operand.type.shape, order, sizes)) for operand, order in inputs],
        (filled(out, 0), [*lead, m, n]),
        [PARALLEL] * (batch + 1) + [REDUCTION, PARALLEL],
        _sum_of_products(lhs, lhs_zero_point, rhs, rhs_zero_point),
    )


def _aligned(shape: Sequence[int], loops: Sequence[ir.AffineExpr], sizes: dict[str, int]) -> list[ir.AffineExpr]:
    """How an operand is indexed whose last dimensions go with the last of `loops`: one of size 1 is repeated."""
    last = loops[len(loops) - len(shape) :]
    return [zero() if size == 1 and sizes[str(loop)] != 1 else loop for size, loop in zip(shape, last, strict=True)]


@lowers(ai.MatMulIntegerOp)
def _lower_matmul_integer(
    op: ai.MatMulIntegerOp, lhs: Operand, rhs: Operand, lhs_zero_point: Operand, rhs_zero_point: Operand
) -> ir.Value:
    return _multiply(lhs, rhs, lhs_zero_point, rhs_zero_point, type_of(op.results[0]))


@lowers(ai.QLinearMatMulOp)
def _lower_qlinear_matmul(
    op: ai.QLinearMatMulOp,
    a: Operand,
    a_scale: Operand,
    a_zero_point: Operand,
    b: Operand,
    b_scale: Operand,
    b_zero_point: Operand,
    y_scale: Operand,
    y_zero_point: Operand,
) -> ir.Value:
    out = type_of(op.results[0])
    sums = TensorType(out.shape, "i32")

    def requantize(total: Scalar, a_scale: Scalar, b_scale: Scalar, y_scale: Scalar, zero_point: Scalar) -> Scalar:
        factor = arith.divf(arith.mulf(a_scale, b_scale), y_scale)
        return quantized(arith.mulf(arith.sitofp(factor.type, total), factor), zero_point, out.element)

    total = Operand(sums, _multiply(a, b, a_zero_point, b_zero_point, sums))
    return elementwise([total, a_scale, b_scale, y_scale, y_zero_point], out, requantize)


@lowers(ai.ConvIntegerOp)
def _lower_conv_integer(
    op: ai.ConvIntegerOp, x: Operand, weight: Operand, x_zero_point: Operand, w_zero_point: Operand
) -> ir.Value:
    """Around the input stands its zero point, which stands for 0."""
    out, pads = type_of(op.results[0]), list(op.pads)
    spatial = out.rank - 2
    border = (
        x_zero_point.scalar() if x_zero_point.splat is not None else tensor.ExtractOp(x_zero_point.value, []).result
    )
    padded = pad(x.value, x.type, [0, 0, *pads[:spatial]], [0, 0, *pads[spatial:]], border)
    channels, blocks = plain_channels(op.group.value, weight.type)
    init, filters = filled(out, 0), weight.value
    shifts: list[tuple[ir.Value, Sequence[str]]] = []
    if x_zero_point.splat is None:
        shifts.append((x_zero_point.value, ()))
    if w_zero_point.splat is None:
        per_channel = w_zero_point.type.rank == 1
        shift = split_axis(w_zero_point.value, 0, blocks) if per_channel and blocks > 1 else w_zero_point.value
        shifts.append((shift, channels.kept if per_channel else ()))
    if blocks > 1:
        init, padded, filters = (
            split_axis(init, 1, blocks),
            split_axis(padded, 1, blocks),
            split_axis(filters, 0, blocks),
        )
    body = _sum_of_products(x, x_zero_point, weight, w_zero_point)
    result = convolve(Window(list(op.strides), list(op.dilations)), padded, filters, init, channels, body, shifts)
    if blocks > 1:
        result = tensor.CollapseShapeOp(tensor_type(out), result, split_groups(out.rank, 1)).result
    return result
