"""matmul and conv as linalg.generic.

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
    Scalar,
    broadcast_map,
    constant,
    dims,
    element_type,
    empty,
    filled,
    generic,
    tensor_type,
    zero,
)
from aiopt.passes.lower.linalg.elementwise import cast, scaled
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.types import TensorType


def _multiply_add(acc: str, element: str) -> object:
    def body(x: Scalar, w: Scalar, total: Scalar) -> Scalar:
        return arith.addf(total, arith.mulf(cast(x, element, acc), cast(w, element, acc)))

    return body


def _rounded(total: ir.Value, out: TensorType, acc: str) -> ir.Value:
    return total if acc == out.element else scaled(total, out, lambda x: cast(x, acc, out.element))


@lowers(ai.MatMulOp)
def _lower_matmul(op: ai.MatMulOp, lhs: Operand, rhs: Operand) -> ir.Value:
    out, acc = type_of(op.results[0]), str(op.acc.value)
    total = TensorType(out.shape, acc)
    batch = out.rank - 2
    loops = dims(out.rank + 1)
    m, k, n = loops[batch : batch + 3]

    def leading(shape: Sequence[int]) -> list[ir.AffineExpr]:
        return broadcast_map(shape[:-2], out.shape[:-2])

    result = generic(
        [(lhs.value, [*leading(lhs.type.shape), m, k]), (rhs.value, [*leading(rhs.type.shape), k, n])],
        (filled(total, 0), [*loops[:batch], m, n]),
        [PARALLEL] * (batch + 1) + [REDUCTION, PARALLEL],
        _multiply_add(acc, out.element),
    )
    return _rounded(result, out, acc)


@lowers(ai.ConvOp)
def _lower_conv(op: ai.ConvOp, x: Operand, weight: Operand, bias: Operand | None) -> ir.Value:
    out, acc, group = type_of(op.results[0]), str(op.acc.value), op.group.value
    spatial = out.rank - 2
    pads, strides, dilations = list(op.pads), list(op.strides), list(op.dilations)
    padded = pad(x.value, x.type, [0, 0, *pads[:spatial]], [0, 0, *pads[spatial:]], 0)
    total = TensorType(out.shape, acc)
    init = filled(total, 0) if bias is None else _broadcast_bias(bias, total, out.element)
    if group == 1:
        result = _dense_conv(padded, weight.value, init, strides, dilations, acc, out)
    elif weight.type.shape[1] == 1 and group == weight.type.shape[0]:
        result = _depthwise_conv(padded, weight.value, init, strides, dilations, acc, out)
    else:
        result = _grouped_conv(padded, weight.value, init, strides, dilations, acc, out, group)
    return _rounded(result, out, acc)


def _window(
    spatial: Sequence[ir.AffineExpr], kernel: Sequence[ir.AffineExpr], strides: list[int], dilations: list[int]
) -> list[ir.AffineExpr]:
    return [o * s + k * d for o, k, s, d in zip(spatial, kernel, strides, dilations, strict=True)]


def _dense_conv(x, w, init, strides, dilations, acc, out: TensorType) -> ir.Value:
    rank = out.rank - 2
    loops = dims(3 + 2 * rank)
    n, oc, ic = loops[0], loops[1], loops[1 + rank]
    kernel, last = loops[2 + rank : 2 + 2 * rank], loops[-1]
    spatial = [*loops[2 : 1 + rank], last]
    return generic(
        [(x, [n, ic, *_window(spatial, kernel, strides, dilations)]), (w, [oc, ic, *kernel])],
        (init, [n, oc, *spatial]),
        [PARALLEL] * (1 + rank) + [REDUCTION] * (1 + rank) + [PARALLEL],
        _multiply_add(acc, out.element),
    )


def _depthwise_conv(x, w, init, strides, dilations, acc, out: TensorType) -> ir.Value:
    rank = out.rank - 2
    loops = dims(2 + 2 * rank)
    n, c = loops[0], loops[1]
    kernel, last = loops[1 + rank : 1 + 2 * rank], loops[-1]
    spatial = [*loops[2 : 1 + rank], last]
    return generic(
        [(x, [n, c, *_window(spatial, kernel, strides, dilations)]), (w, [c, zero(), *kernel])],
        (init, [n, c, *spatial]),
        [PARALLEL] * (1 + rank) + [REDUCTION] * rank + [PARALLEL],
        _multiply_add(acc, out.element),
    )


def _grouped_conv(x, w, init, strides, dilations, acc, out: TensorType, group: int) -> ir.Value:
    """Channels split in (group, channel in group); loops (n, g, oc, o..., ic, k..., o_last)."""
    rank = out.rank - 2
    x, w, init = _split(x, 1, group), _split(w, 0, group), _split(init, 1, group)
    loops = dims(4 + 2 * rank)
    n, g, oc, ic = loops[0], loops[1], loops[2], loops[2 + rank]
    kernel, last = loops[3 + rank : 3 + 2 * rank], loops[-1]
    spatial = [*loops[3 : 2 + rank], last]
    result = generic(
        [(x, [n, g, ic, *_window(spatial, kernel, strides, dilations)]), (w, [g, oc, ic, *kernel])],
        (init, [n, g, oc, *spatial]),
        [PARALLEL] * (2 + rank) + [REDUCTION] * (1 + rank) + [PARALLEL],
        _multiply_add(acc, out.element),
    )
    groups = _groups(out.rank, 1)
    return tensor.CollapseShapeOp(tensor_type(TensorType(out.shape, acc)), result, groups).result


def _split(value: ir.Value, axis: int, group: int) -> ir.Value:
    shape = list(value.type.shape)
    wide = [*shape[:axis], group, shape[axis] // group, *shape[axis + 1 :]]
    kind = ir.RankedTensorType.get(wide, value.type.element_type)
    return tensor.ExpandShapeOp(kind, value, _groups(len(shape), axis), [], wide).result


def _groups(rank: int, axis: int) -> list[list[int]]:
    return [[i] if i < axis else [i, i + 1] if i == axis else [i + 1] for i in range(rank)]


def _broadcast_bias(bias: Operand, total: TensorType, element: str) -> ir.Value:
    loops = dims(total.rank)
    inputs = [(bias.value, [loops[1]])]
    return generic(inputs, (empty(total), loops), [PARALLEL] * total.rank, lambda b, _: cast(b, element, total.element))


def pad(value: ir.Value, kind: TensorType, low: list[int], high: list[int], border: float | int) -> ir.Value:
    """The tensor with a border of one value around it; the tensor itself where there is none."""
    if not any(low) and not any(high):
        return value
    shape = [n + a + b for n, a, b in zip(kind.shape, low, high, strict=True)]
    frame = linalg.fill(constant(border, element_type(kind)), outs=[empty(kind.with_shape(*shape))])
    ones = [1] * kind.rank
    return tensor.InsertSliceOp(value, frame, [], [], [], low, list(kind.shape), ones).result
