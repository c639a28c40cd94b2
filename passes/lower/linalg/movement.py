"""Ops that move elements."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, linalg, tensor

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.lower.linalg.builder import constant, dims, element_type, empty, filled, pointwise, tensor_type
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.passes.permutation import permutation_of
from aiopt.support.types import TensorType


@lowers(ai.TransposeOp, ai.RelayoutOp)
def _lower_transpose(op: ai.TransposeOp | ai.RelayoutOp, x: Operand) -> ir.Value:
    out = type_of(op.results[0])
    loops = dims(out.rank)
    source = {axis: loops[position] for position, axis in enumerate(permutation_of(op))}
    return pointwise([(x.value, [source[axis] for axis in range(out.rank)])], out, lambda v: v)


@lowers(ai.SliceOp)
def _lower_slice(op: ai.SliceOp, x: Operand) -> ir.Value:
    """Negative steps are read through an index expression: a subset op takes none."""
    out = type_of(op.results[0])
    starts, sizes, steps = list(op.starts), list(op.sizes), list(op.steps)
    if all(step > 0 for step in steps):
        kind = tensor_type(out)
        part = tensor.ExtractSliceOp(kind, x.value, [], [], [], starts, sizes, steps).result
        return pointwise([(part, dims(out.rank))], out, lambda v: v)
    return _reversed(x, starts, steps, out)


def _reversed(x: Operand, starts: list[int], steps: list[int], out: TensorType) -> ir.Value:
    source = x.value

    def body() -> ir.Value:
        index = ir.IndexType.get()
        at = [
            arith.addi(constant(start, index), arith.muli(linalg.IndexOp(axis).result, constant(step, index)))
            for axis, (start, step) in enumerate(zip(starts, steps, strict=True))
        ]
        return tensor.ExtractOp(source, at).result

    return pointwise([], out, body)


@lowers(ai.ConcatOp)
def _lower_concat(op: ai.ConcatOp, inputs: list[Operand]) -> ir.Value:
    out = type_of(op.results[0])
    axis = op.axis.value
    result, at = empty(out), 0
    for operand in inputs:
        if operand.type.size == 0:
            continue
        offsets = [at if a == axis else 0 for a in range(out.rank)]
        sizes, ones = list(operand.type.shape), [1] * out.rank
        result = tensor.InsertSliceOp(operand.value, result, [], [], [], offsets, sizes, ones).result
        at += operand.type.shape[axis]
    return result


@lowers(ai.ReshapeOp)
def _lower_reshape(op: ai.ReshapeOp, x: Operand) -> ir.Value:
    out = type_of(op.results[0])
    flat = x.value
    if x.type.rank > 1:
        kind = ir.RankedTensorType.get([x.type.size], element_type(x.type))
        flat = tensor.CollapseShapeOp(kind, flat, [list(range(x.type.rank))]).result
    elif x.type.rank == 0:
        kind = ir.RankedTensorType.get([1], element_type(x.type))
        flat = tensor.ExpandShapeOp(kind, flat, [], [], [1]).result
    if out.rank == 1:
        return flat
    groups = [list(range(out.rank))] if out.rank else []
    if out.rank == 0:
        return tensor.CollapseShapeOp(tensor_type(out), flat, groups).result
    return tensor.ExpandShapeOp(tensor_type(out), flat, groups, [], list(out.shape)).result


@lowers(ai.PadOp)
def _lower_pad(op: ai.PadOp, x: Operand, value: Operand | None) -> ir.Value:
    """A constant border is filled first; any other is read through index expressions, as the rest is."""
    out, low = type_of(op.results[0]), list(op.low)
    if op.mode.value != "constant":
        return _padded(x, low, list(op.high), op.mode.value, out)
    if value is None or value.splat is not None:
        frame = filled(out, 0 if value is None else value.splat)  # pyright: ignore[reportArgumentType]
    else:
        frame = linalg.fill(tensor.ExtractOp(value.value, []).result, outs=[empty(out)])
    if x.type.size == 0:
        return frame
    return tensor.InsertSliceOp(x.value, frame, [], [], [], low, list(x.type.shape), [1] * out.rank).result


def _padded(x: Operand, low: list[int], high: list[int], mode: str, out: TensorType) -> ir.Value:
    source = x.value

    def body() -> ir.Value:
        places = [linalg.IndexOp(axis).result for axis in range(out.rank)]
        for axis, size in enumerate(x.type.shape):
            if low[axis] or high[axis]:
                places[axis] = _repeated(places[axis], size, low[axis], mode)
        return tensor.ExtractOp(source, places).result

    return pointwise([], out, body)


def _repeated(at: ir.Value, size: int, low: int, mode: str) -> ir.Value:
    """Which of `size` elements stands at a place of the padded dimension; `low` more places come before them."""
    index = ir.IndexType.get()
    if mode == "edge":
        place = arith.subi(at, constant(low, index))
        return arith.minsi(arith.maxsi(place, constant(0, index)), constant(size - 1, index))
    period = size if mode == "wrap" else max(2 * (size - 1), 1)
    place = arith.remui(arith.addi(at, constant(-low % period, index)), constant(period, index))
    return place if mode == "wrap" else arith.minui(place, arith.subi(constant(period, index), place))
