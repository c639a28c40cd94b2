"""Columns that lie in memory as vectors, turned into the rows of vectors that products need."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import vector

from aiopt.passes.templates import emit
from aiopt.passes.templates.emit import Chunk, Index


@dataclass(frozen=True)
class Lines:
    """`width` columns of a flat buffer from `start` on.

    To be turned, each is contiguous, and the next one is `stride` elements on; to be copied, it is the other way round.
    """

    buffer: ir.Value
    start: Index
    stride: int
    width: int


def copy_columns(source: Lines, steps: int, target: ir.Value, start: Index, pitch: int, lanes: int) -> None:
    """Write element k of column j to start + k * pitch + j of a buffer of f32, for 0 <= k < steps.

    Places after the last column, up to whole vectors, become 0.
    """
    chunks = emit.chunks(source.width, lanes)

    def line(step: Index, _: list[ir.Value]) -> list[ir.Value]:
        for chunk in chunks:
            value = emit.load(source.buffer, emit.add(source.start, emit.mul(step, source.stride)), chunk)
            emit.store(value, target, emit.add(start, emit.mul(step, pitch)), chunk.full)
        return []

    emit.for_loop(0, steps, 1, [], line)


def turn_columns(source: Lines, steps: Index, target: ir.Value, start: Index, pitch: int, lanes: int) -> None:
    """Write element k of column j to start + k * pitch + j of a buffer of f32, for 0 <= k < steps.

    Squares of lanes x lanes are turned in registers. Places after the last column, up to whole vectors, become 0.
    """
    whole = emit.multiple_below(steps, lanes)

    def squares(step: Index, _: list[ir.Value]) -> list[ir.Value]:
        for first in range(0, source.width, lanes):
            rows = _turned([_column(source, first + j, step, lanes) for j in range(lanes)])
            for k, row in enumerate(rows):
                place = emit.add(emit.mul(emit.add(step, k), pitch), first)
                emit.store(row, target, emit.add(start, place), Chunk(0, lanes, lanes))
        return []

    def single(step: Index, _: list[ir.Value]) -> list[ir.Value]:
        kind = ir.VectorType.get([1], ir.F32Type.get())
        for j in range(-(-source.width // lanes) * lanes):
            place = emit.add(emit.add(source.start, j * source.stride), step)
            value = emit.load_scalar(source.buffer, place, kind) if j < source.width else emit.zeros(Chunk(0, 1, 1))
            place = emit.add(emit.add(start, emit.mul(step, pitch)), j)
            vector.StoreOp(value, target, [emit.index(place)])
        return []

    emit.for_loop(0, whole, lanes, [], squares)
    emit.for_loop(whole, steps, 1, [], single)


def _column(source: Lines, j: int, step: Index, lanes: int) -> ir.Value:
    """Elements step <= k < step + lanes of column j, zeros if there is no such column."""
    chunk = Chunk(0, lanes, lanes)
    if j >= source.width:
        return emit.zeros(chunk)
    return emit.load(source.buffer, emit.add(emit.add(source.start, j * source.stride), step), chunk)


def _turned(rows: list[ir.Value]) -> list[ir.Value]:
    """A square of vectors with rows and columns exchanged: blocks of 1, 2, 4, ... off the diagonal change places."""
    count, size = len(rows), 1
    while size < count:
        upper = [i if not i & size else i - size + count for i in range(count)]
        lower = [i + size if not i & size else i + count for i in range(count)]
        turned = list(rows)
        for i in range(count):
            if not i & size:
                a, b = rows[i], rows[i + size]
                turned[i], turned[i + size] = _shuffled(a, b, upper), _shuffled(a, b, lower)
        rows, size = turned, 2 * size
    return rows


def _shuffled(a: ir.Value, b: ir.Value, mask: list[int]) -> ir.Value:
    return vector.ShuffleOp(a, b, mask).result
