"""conv_transpose as a convolution, by stride 1, of the spread input with the turned kernel."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, linalg, tensor

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.lower.linalg.builder import (
    PARALLEL,
    REDUCTION,
    constant,
    dims,
    filled,
    generic,
    pointwise,
    tensor_type,
)
from aiopt.passes.lower.linalg.contraction import multiply_add, rounded, split_axis, split_groups
from aiopt.passes.lower.linalg.elementwise import cast
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.types import TensorType


@lowers(ai.ConvTransposeOp)
def _lower_conv_transpose(op: ai.ConvTransposeOp, x: Operand, weight: Operand, bias: Operand | None) -> ir.Value:
    """Loops (n, g, oc, o..., ic, k..., o_last), channels split in (group, channel in group)."""
    out, acc, group = type_of(op.results[0]), str(op.acc.value), op.group.value
    total, rank = TensorType(out.shape, acc), out.rank - 2
    parts = [
        split_axis(v, axis, group) for v, axis in ((_spread(op, x), 1), (_turned(weight), 0), (filled(total, 0), 1))
    ]
    loops = dims(4 + 2 * rank)
    n, g, oc, ic, last = loops[0], loops[1], loops[2], loops[2 + rank], loops[-1]
    spatial, kernel = [*loops[3 : 2 + rank], last], loops[3 + rank : 3 + 2 * rank]
    reach = [o + k * d for o, k, d in zip(spatial, kernel, op.dilations, strict=True)]
    result = generic(
        [(parts[0], [n, g, ic, *reach]), (parts[1], [g, ic, oc, *kernel])],
        (parts[2], [n, g, oc, *spatial]),
        [PARALLEL] * (2 + rank) + [REDUCTION] * (1 + rank) + [PARALLEL],
        multiply_add(acc, x.type.element),
    )
    value = tensor.CollapseShapeOp(tensor_type(total), result, split_groups(out.rank, 1)).result
    if bias is not None:
        loops = dims(out.rank)
        inputs = [(value, loops), (bias.value, [loops[1]])]
        value = pointwise(inputs, total, lambda v, b: arith.addf(v, cast(b, bias.type.element, acc)))
    return rounded(value, out, acc)


def _turned(weight: Operand) -> ir.Value:
    """The kernel with each spatial dimension backwards. A map of the convolution could not say this: linalg tiles
    operands by maps that rise."""
    source, sizes = weight.value, weight.type.shape

    def body() -> ir.Value:
        index = ir.IndexType.get()
        at = [linalg.IndexOp(axis).result for axis in range(len(sizes))]
        back = [arith.subi(constant(n - 1, index), i) for n, i in zip(sizes[2:], at[2:], strict=True)]
        return tensor.ExtractOp(source, [*at[:2], *back]).result

    return pointwise([], weight.type, body)


def _spread(op: ai.ConvTransposeOp, x: Operand) -> ir.Value:
    """The input with stride - 1 zeros between its elements, and around them as many as the turned kernel reaches.

    Where `pads` cut off more than the kernel reaches, elements go too.
    """
    pads, strides = list(op.pads), list(op.strides)
    rank = len(strides)
    kernel = _extents(op)
    before = [kernel[i] - 1 - pads[i] for i in range(rank)]
    after = [kernel[i] - 1 - pads[rank + i] + list(op.output_pads)[i] for i in range(rank)]
    spans = [(n - 1) * s + 1 for n, s in zip(x.type.shape[2:], strides, strict=True)]
    low, high = [max(b, 0) for b in before], [max(a, 0) for a in after]
    frame = x.type.with_shape(*x.type.shape[:2], *(b + n + a for b, n, a in zip(low, spans, high, strict=True)))
    steps = [1, 1, *strides]
    value = tensor.InsertSliceOp(
        x.value, filled(frame, 0), [], [], [], [0, 0, *low], list(x.type.shape), steps
    ).result  # fmt: skip
    sizes = [*x.type.shape[:2], *(b + n + a for b, n, a in zip(before, spans, after, strict=True))]
    if sizes == list(frame.shape):
        return value
    offsets = [0, 0, *(have - want for have, want in zip(low, before, strict=True))]
    kind = tensor_type(x.type.with_shape(*sizes))
    return tensor.ExtractSliceOp(kind, value, [], [], [], offsets, sizes, [1] * len(sizes)).result


def _extents(op: ai.ConvTransposeOp) -> list[int]:
    """Elements the kernel spans in each dimension."""
    kernel = type_of(op.weight).shape[2:]
    return [(size - 1) * dilation + 1 for size, dilation in zip(kernel, op.dilations, strict=True)]
