"""Reductions, softmax and pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from mlir import ir
from mlir.dialects import arith, linalg, math, tensor

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.builder import (
    PARALLEL,
    REDUCTION,
    Scalar,
    constant,
    dims,
    empty,
    filled,
    generic,
)
from aiopt.passes.lower.linalg.contraction import pad
from aiopt.passes.lower.linalg.elementwise import Expression, cast, elementwise, scaled
from aiopt.passes.lower.linalg.rules import Operand, Squeezed, lowers
from aiopt.support.types import FLOATS, LOW_FLOATS, UNSIGNED, TensorType

Combine = Callable[[Scalar, Scalar], Scalar]
Fold = tuple[float | int, Combine]  # the neutral element and how two values become one
WIDER = {"bf16": "f32", "f16": "f32", "f32": "f64"}


def _maximum(element: str) -> Combine:
    return arith.maximumf if element in FLOATS else arith.maxui if element in UNSIGNED else arith.maxsi


def _minimum(element: str) -> Combine:
    return arith.minimumf if element in FLOATS else arith.minui if element in UNSIGNED else arith.minsi


def _add(element: str) -> Combine:
    return arith.addf if element in FLOATS else arith.addi


def _lowest(kind: TensorType) -> float | int:
    return float("-inf") if kind.element in FLOATS else _limits(kind)[0]


def _highest(kind: TensorType) -> float | int:
    return float("inf") if kind.element in FLOATS else _limits(kind)[1]


def _limits(kind: TensorType) -> tuple[int, int]:
    info = np.iinfo(kind.dtype)
    return int(info.min), int(info.max)


def _fold(value: ir.Value, kind: TensorType, axes: Sequence[int], acc: str, start: float, combine: Combine) -> ir.Value:
    """Fold `axes` with `combine` in type `acc`; the result does not have them.

    The innermost loop walks memory and is parallel, so that it vectorizes: the last axis where it is kept, else the
    lanes that a long last axis is first folded into.
    """
    lanes = _lanes(kind.shape[-1]) if kind.rank - 1 in axes else 1
    kept = [axis for axis in range(kind.rank) if axis not in axes]
    last = kept[-1:] if kind.rank - 1 in kept else []
    order = [axis for axis in kept if axis not in last] + list(axes) + last
    loops = dims(len(order) + (lanes > 1))
    index = {axis: loops[position] for position, axis in enumerate(order)}
    target, shape = [index[axis] for axis in kept], [kind.shape[axis] for axis in kept]
    iterators = [REDUCTION if axis in axes else PARALLEL for axis in order]
    bounds = []
    if lanes > 1:
        part = index[kind.rank - 1]
        index[kind.rank - 1] = part * lanes + loops[-1]
        target, shape, iterators = [*target, loops[-1]], [*shape, lanes], [*iterators, PARALLEL]
        bounds = [(empty(kind.with_shape(kind.shape[-1] // lanes)), [part])]  # read by nobody: it bounds the loop
    out = TensorType(tuple(shape), acc)
    total = generic(
        [(value, [index[axis] for axis in range(kind.rank)]), *bounds],
        (filled(out, start), target),
        iterators,
        lambda x, *others: combine(others[-1], cast(x, kind.element, acc)),
    )
    return _fold(total, out, [out.rank - 1], acc, start, combine) if lanes > 1 else total


def _lanes(extent: int) -> int:
    """How many parallel accumulators a long axis is folded into: a divisor of its extent; 1 for a short axis."""
    fitting = [size for size in range(8, 65) if extent % size == 0 and extent >= 4 * size]
    return max(fitting, key=lambda size: (size % 8 == 0, size <= 32, size), default=1)


def sum_over(value: ir.Value, kind: TensorType, axes: Sequence[int], finish: Expression | None = None) -> ir.Value:
    """The sum over `axes` in the type of `value`, after `finish` in the accumulator's type.

    A loop adds one element after the other. In f32 the small terms of a long row are lost beside a large total (a
    softmax over 6,625 classes was wrong by 6e-5), so sums of floats are kept in the next wider type.
    """
    acc = WIDER.get(kind.element, kind.element)
    total = _fold(value, kind, axes, acc, 0, _add(kind.element))
    out = TensorType(tuple(n for axis, n in enumerate(kind.shape) if axis not in axes), kind.element)
    if acc == kind.element and finish is None:
        return total
    return scaled(total, out, lambda v: cast(finish(v) if finish else v, acc, kind.element))


def _squeezed(op: Operation, value: ir.Value) -> ir.Value | Squeezed:
    axes = tuple(op.python_attributes()["axes"])
    return Squeezed(value, axes) if op.python_attributes()["keepdims"] and axes else value


def _axes(op: Operation) -> list[int]:
    return sorted(op.python_attributes()["axes"])


@lowers(ai.ReduceSumOp)
def _lower_sum(op: Operation, x: Operand) -> ir.Value | Squeezed:
    return _squeezed(op, sum_over(x.value, x.type, _axes(op)))


@lowers(ai.ReduceProdOp)
def _lower_product(op: Operation, x: Operand) -> ir.Value | Squeezed:
    element, axes = x.type.element, _axes(op)
    acc = WIDER.get(element, element)
    total = _fold(x.value, x.type, axes, acc, 1, arith.mulf if element in FLOATS else arith.muli)
    kept = x.type.with_shape(*(n for axis, n in enumerate(x.type.shape) if axis not in axes))
    return _squeezed(op, total if acc == element else scaled(total, kept, lambda v: cast(v, acc, element)))


@lowers(ai.ReduceMeanOp)
def _lower_mean(op: Operation, x: Operand) -> ir.Value | Squeezed:
    count = prod(x.type.shape[axis] for axis in _axes(op))
    return _squeezed(op, sum_over(x.value, x.type, _axes(op), lambda v: arith.divf(v, constant(count, v.type))))


@lowers(ai.ReduceMaxOp)
def _lower_max(op: Operation, x: Operand) -> ir.Value | Squeezed:
    return _squeezed(op, _extreme(op, x, _lowest(x.type), _maximum(x.type.element)))


@lowers(ai.ReduceMinOp)
def _lower_min(op: Operation, x: Operand) -> ir.Value | Squeezed:
    return _squeezed(op, _extreme(op, x, _highest(x.type), _minimum(x.type.element)))


def _extreme(op: Operation, x: Operand, start: float, combine: Combine) -> ir.Value:
    """The largest or smallest element over the op's axes; f16 and bf16 are compared as f32."""
    element = x.type.element
    acc = computed_as(element)
    found = _fold(x.value, x.type, _axes(op), acc, start, combine)
    kept = [n for axis, n in enumerate(x.type.shape) if axis not in _axes(op)]
    return found if acc == element else scaled(found, x.type.with_shape(*kept), lambda v: cast(v, acc, element))


def computed_as(element: str) -> str:
    """The type in which elements are computed."""
    return "f32" if element in LOW_FLOATS else element


@lowers(ai.SoftmaxOp)
def _lower_softmax(op: ai.SoftmaxOp, x: Operand) -> ir.Value:
    """exp(x - max) / sum, in f32 for f16 and bf16."""
    kind = type_of(op.results[0])
    axis = op.axis.value
    wide = TensorType(kind.shape, computed_as(kind.element))
    value = x.value if wide == kind else scaled(x.value, wide, lambda v: cast(v, kind.element, wide.element))
    rows = wide.with_shape(*(1 if a == axis else n for a, n in enumerate(kind.shape)))
    peak = _fold(value, wide, [axis], wide.element, float("-inf"), arith.maximumf)
    shifted = [Operand(wide, value), Operand(rows, Squeezed(peak, (axis,)))]
    exponentials = elementwise(shifted, wide, lambda v, top: math.exp(arith.subf(v, top)))
    total = sum_over(exponentials, wide, [axis])
    parts = [Operand(wide, exponentials), Operand(rows, Squeezed(total, (axis,)))]
    return elementwise(parts, kind, lambda v, s: cast(arith.divf(v, s), wide.element, kind.element))


def _pool(
    value: ir.Value, out: TensorType, windows: tuple[list[int], list[int], list[int]], is_last: bool, fold: Fold
) -> ir.Value:
    """Fold windows (kernel, strides, dilations) of a padded tensor; innermost is the result's last dimension."""
    kernel, strides, dilations = windows
    rank = out.rank - 2
    loops = dims(2 + 2 * rank)
    taps, last = loops[1 + rank : 1 + 2 * rank], loops[-1]
    spatial, channel = (loops[1 : 1 + rank], last) if is_last else ([*loops[2 : 1 + rank], last], loops[1])
    window = [o * s + k * d for o, k, s, d in zip(spatial, taps, strides, dilations, strict=True)]
    element = ir.RankedTensorType(value.type).element_type
    shape_only = tensor.EmptyOp(kernel, element).result  # gives the window loops their bounds

    def activation(places: Sequence[ir.AffineExpr]) -> list[ir.AffineExpr]:
        return [loops[0], *places, channel] if is_last else [loops[0], channel, *places]

    start, combine = fold
    return generic(
        [(value, activation(window)), (shape_only, taps)],
        (filled(out, start), activation(spatial)),
        [PARALLEL] * (1 + rank) + [REDUCTION] * rank + [PARALLEL],
        lambda x, _, total: combine(total, x),
    )


def _fold_windows(
    x: Operand,
    out: TensorType,
    windows: tuple[list[int], list[int], list[int]],
    pads: list[int],
    is_last: bool,
    fold: Fold,
) -> ir.Value:
    """Fold windows of x, which the start value surrounds, in the element type of `out`."""
    spatial = x.type.rank - 2
    if not is_last:
        padded = pad(x.value, x.type, [0, 0, *pads[:spatial]], [0, 0, *pads[spatial:]], fold[0])
        return _pool(padded, out, windows, False, fold)
    if any(pads):
        return _pool_inside(x, out, windows, pads[:spatial], fold)
    return _pool(x.value, out, windows, True, fold)


def _pool_inside(
    x: Operand, out: TensorType, windows: tuple[list[int], list[int], list[int]], before: list[int], fold: Fold
) -> ir.Value:
    """Fold windows that reach over the border, channels last, without a padded copy of the input.

    What lies outside is the start value. Whether an element does is the same for all channels, over which the
    innermost loop runs, so the loop stays a plain walk.
    """
    kernel, strides, dilations = windows
    rank, source = out.rank - 2, x.value
    loops, index = dims(2 + 2 * rank), ir.IndexType.get()
    start, combine = fold

    def body(_: Scalar, total: Scalar) -> Scalar:
        places, inside = [], None
        for i in range(rank):
            at = arith.muli(linalg.IndexOp(1 + i).result, constant(strides[i], index))
            tap = arith.muli(linalg.IndexOp(1 + rank + i).result, constant(dilations[i], index))
            place = arith.subi(arith.addi(at, tap), constant(before[i], index))
            last, zero = constant(x.type.shape[1 + i] - 1, index), constant(0, index)
            clamped = arith.maxsi(arith.minsi(place, last), zero)
            fits = arith.cmpi(arith.CmpIPredicate.eq, place, clamped)
            inside = fits if inside is None else arith.andi(inside, fits)
            places.append(clamped)
        ends = linalg.IndexOp(0).result, linalg.IndexOp(1 + 2 * rank).result
        element = tensor.ExtractOp(source, [ends[0], *places, ends[1]]).result
        return combine(total, arith.select(inside, element, constant(start, element.type)))

    shape_only = tensor.EmptyOp(kernel, ir.RankedTensorType(source.type).element_type).result
    return generic(
        [(shape_only, loops[1 + rank : 1 + 2 * rank])],
        (filled(out, start), [*loops[: 1 + rank], loops[-1]]),
        [PARALLEL] * (1 + rank) + [REDUCTION] * rank + [PARALLEL],
        body,
    )


@lowers(ai.MaxPoolOp)
def _lower_max_pool(op: ai.MaxPoolOp, x: Operand) -> ir.Value:
    out = type_of(op.results[0])
    found = largest_of_windows(op, x, out.shape, op.layout is not None)
    acc = computed_as(out.element)
    return found if acc == out.element else scaled(found, out, lambda v: cast(v, acc, out.element))


def largest_of_windows(
    op: ai.MaxPoolOp | ai.MaxPoolPlacesOp, x: Operand, shape: Sequence[int], is_last: bool
) -> ir.Value:
    """The largest element of each window of x, in the type in which its elements are computed."""
    element = x.type.element
    acc, combine = computed_as(element), _maximum(element)
    fold = (_lowest(x.type), lambda largest, v: combine(largest, cast(v, element, acc)))
    windows = list(op.kernel), list(op.strides), list(op.dilations)
    return _fold_windows(x, TensorType(tuple(shape), acc), windows, list(op.pads), is_last, fold)


@lowers(ai.AvgPoolOp)
def _lower_avg_pool(op: ai.AvgPoolOp, x: Operand) -> ir.Value:
    out, is_last = type_of(op.results[0]), op.layout is not None
    spatial, pads, kernel, strides = out.rank - 2, list(op.pads), list(op.kernel), list(op.strides)
    element = out.element
    acc = computed_as(element)
    fold = (0, lambda total, v: arith.addf(total, cast(v, element, acc)))
    dilations = list(op.dilations) if op.dilations is not None else [1] * spatial
    total = _fold_windows(x, TensorType(out.shape, acc), (kernel, strides, dilations), pads, is_last, fold)
    if op.count_include_pad.value or not any(pads):
        return scaled(total, out, lambda v: cast(arith.divf(v, constant(prod(kernel), v.type)), acc, element))
    first = 1 if is_last else 2  # spatial dimension
    extents = list(x.type.shape[first : first + spatial])

    def divided(v: Scalar) -> Scalar:
        windows = zip(extents, pads, kernel, strides, dilations, strict=False)
        counts = [_covered(first + i, *window) for i, window in enumerate(windows)]
        count = counts[0]
        for other in counts[1:]:
            count = arith.muli(count, other)
        wide = arith.index_cast(ir.IntegerType.get_signless(64), count)
        return cast(arith.divf(v, arith.sitofp(v.type, wide)), acc, element)

    return scaled(total, out, divided)


def _covered(loop: int, extent: int, before: int, kernel: int, stride: int, dilation: int) -> Scalar:
    """How many elements of the input a window covers along one axis, borders left out."""
    index = ir.IndexType.get()
    zero, step = constant(0, index), constant(dilation, index)
    first = arith.subi(arith.muli(linalg.IndexOp(loop).result, constant(stride, index)), constant(before, index))
    outside = arith.maxsi(arith.subi(zero, first), zero)  # places before the input, and up to its end
    end = arith.maxsi(arith.subi(constant(extent, index), first), zero)
    if dilation != 1:
        outside, end = arith.ceildivui(outside, step), arith.ceildivui(end, step)
    return arith.subi(arith.minsi(end, constant(kernel, index)), outside)
