"""The innermost loop: rows of one operand times column vectors of the other, summed in registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from aiopt.passes.templates import emit
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.epilogue import Registers, Tile


@dataclass(frozen=True)
class Rows:
    """Elements that are multiplied with whole vectors: step k of row i is at start + offsets[i] + k."""

    buffer: ir.Value
    start: Index
    offsets: Sequence[int]


@dataclass(frozen=True)
class Columns:
    """Vectors of columns: step k is at start + k * stride. padded: the last ones are filled with zeros in memory.

    ahead: the start of what will be read soon, of which each step fetches a line into the cache.
    """

    buffer: ir.Value
    start: Index
    stride: int
    padded: bool
    ahead: Index | None = None


def reduce_products(
    tile: Tile, active: Sequence[int], registers: Registers, steps: Index, rows: Rows, columns: Columns, fma: bool
) -> Registers:
    """Add `steps` products to the accumulators of the active rows of a tile; all accumulators.

    rows has an offset for each active row.
    """
    width = len(tile.chunks)
    places = [row * width + at for row in active for at in range(width)]

    def body(k: Index, totals: list[ir.Value]) -> list[ir.Value]:
        at, position = emit.add(rows.start, k), emit.add(columns.start, emit.mul(k, columns.stride))
        loaded = [chunk.full if columns.padded else chunk for chunk in tile.chunks]
        vectors = [emit.load(columns.buffer, position, chunk) for chunk in loaded]
        if columns.ahead is not None:
            emit.prefetch(columns.buffer, emit.add(columns.ahead, emit.mul(k, emit.LINE)))
        sums: list[ir.Value] = []
        for i, offset in enumerate(rows.offsets):
            element = emit.load_scalar(rows.buffer, emit.add(at, offset), tile.chunks[0].kind)
            for j, vector in enumerate(vectors):
                sums.append(emit.multiply_add(element, vector, totals[i * width + j], fma))
        return sums

    sums = emit.for_loop(0, steps, 1, [registers[place] for place in places], body)
    result = list(registers)
    for place, value in zip(places, sums, strict=True):
        result[place] = value
    return result
