"""The innermost loop: rows of one operand times column vectors of the other, summed in registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Parameters
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.epilogue import Registers, Tile
from aiopt.passes.templates.pairs import add_pairs, load_column_pairs, load_row_pair


@dataclass(frozen=True)
class Rows:
    """Elements that are multiplied with whole vectors: step k of row i is at start + offsets[i] + k * stride."""

    buffer: ir.Value
    start: Index
    offsets: Sequence[int]
    stride: int = 1


@dataclass(frozen=True)
class Columns:
    """Vectors of columns: step k is at start + k * stride. padded: the last ones are filled with zeros in memory.

    ahead: the start of what will be read soon; each step fetches the lines of the next `fetched` elements of it.
    """

    buffer: ir.Value
    start: Index
    stride: int
    padded: bool
    ahead: Index | None = None
    fetched: int = emit.LINE


@dataclass(frozen=True)
class Arithmetic:
    """How products are summed: one after another in f32, or bf16 in pairs by one instruction."""

    fma: bool
    pairs: bool

    @staticmethod
    def of(numbers: Parameters) -> Arithmetic:
        return Arithmetic(bool(numbers["fma"]), bool(numbers["dot"]))

    @property
    def step(self) -> int:
        """Products of one lane at a time."""
        return 2 if self.pairs else 1

    def column(self, buffer: ir.Value, position: Index, chunk: Chunk) -> ir.Value:
        return (load_column_pairs if self.pairs else emit.load)(buffer, position, chunk)

    def row(self, buffer: ir.Value, position: Index, chunk: Chunk) -> ir.Value:
        if self.pairs:
            return load_row_pair(buffer, position, chunk)
        return emit.load_scalar(buffer, position, chunk.kind)

    def add(self, row: ir.Value, column: ir.Value, total: ir.Value) -> ir.Value:
        return add_pairs(row, column, total) if self.pairs else emit.multiply_add(row, column, total, self.fma)


def reduce_products(
    tile: Tile,
    active: Sequence[int],
    registers: Registers,
    steps: Index,
    rows: Rows,
    columns: Columns,
    arithmetic: Arithmetic,
) -> Registers:
    """Add `steps` products to the accumulators of the active rows of a tile; all accumulators.

    rows has an offset for each active row. With pairs, steps is even and columns are interleaved.
    """
    width = len(tile.chunks)
    places = [row * width + at for row in active for at in range(width)]

    def body(k: Index, totals: list[ir.Value]) -> list[ir.Value]:
        at, position = (
            emit.add(rows.start, emit.mul(k, rows.stride)),
            emit.add(columns.start, emit.mul(k, columns.stride)),
        )
        loaded = [chunk.full if columns.padded else chunk for chunk in tile.chunks]
        vectors = [arithmetic.column(columns.buffer, position, chunk) for chunk in loaded]
        if columns.ahead is not None:
            line = emit.add(columns.ahead, emit.mul(k, columns.fetched))
            for offset in range(0, columns.fetched * arithmetic.step, emit.line_of(columns.buffer)):
                emit.prefetch(columns.buffer, emit.add(line, offset))
        sums: list[ir.Value] = []
        for i, offset in enumerate(rows.offsets):
            element = arithmetic.row(rows.buffer, emit.add(at, offset), tile.chunks[0])
            for j, vector in enumerate(vectors):
                sums.append(arithmetic.add(element, vector, totals[i * width + j]))
        return sums

    sums = emit.for_loop(0, steps, arithmetic.step, [registers[place] for place in places], body)
    result = list(registers)
    for place, value in zip(places, sums, strict=True):
        result[place] = value
    return result
