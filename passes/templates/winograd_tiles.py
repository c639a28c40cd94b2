"""What Winograd's algorithm cuts an image into, and the matrices it makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mlir import ir
from mlir.dialects import arith

from aiopt.dialects.ai.winograd import TAPS
from aiopt.passes.templates import emit
from aiopt.passes.templates.blocking import divides_rows
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.geometry import Geometry
from aiopt.support.cost import MULTIPLY_ADDS


@dataclass(frozen=True)
class Tiles:
    """The result cut into tiles of size x size pixels, row by row, image by image; first: its first row computed."""

    geometry: Geometry
    size: int
    first: Index = 0

    @property
    def extent(self) -> int:
        """Pixels of the input along each side of a tile."""
        return self.size + TAPS - 1

    @property
    def down(self) -> int:
        return -(-self.geometry.rows // self.size)

    @property
    def across(self) -> int:
        return -(-self.geometry.x.count // self.size)

    @property
    def total(self) -> int:
        return self.geometry.images * self.down * self.across

    @property
    def inside(self) -> int:
        """How many of them see only pixels of the input."""
        counts = []
        for axis, tiles in ((self.geometry.y, self.down), (self.geometry.x, self.across)):
            starts = [tile * self.size - axis.pad for tile in range(tiles)]
            counts.append(sum(0 <= start <= axis.size - self.extent for start in starts))
        return self.geometry.images * counts[0] * counts[1]

    def place(self, number: Index) -> tuple[ir.Value, ir.Value, ir.Value]:
        """Image, first row and first column of the result."""
        line = arith.divui(emit.index(number), emit.index(self.across))
        column = arith.remui(emit.index(number), emit.index(self.across))
        image = arith.divui(line, emit.index(self.down))
        row = arith.remui(line, emit.index(self.down))
        top = emit.add(emit.mul(row, self.size), self.first)
        return image, emit.index(top), emit.index(emit.mul(column, self.size))


def divides_tiles(tiles: Tiles, mr: int, lanes: int) -> bool:
    """Whether threads divide the tiles or the blocks of filters; mr: tiles at a time."""
    geometry, positions = tiles.geometry, tiles.extent**2
    weights = 4 * positions * geometry.channels * geometry.filters
    pixels = geometry.images * geometry.y.count * geometry.x.count
    read = geometry.images * geometry.y.size * geometry.x.size + positions * tiles.total
    moved = 4 * (read * geometry.channels + pixels * geometry.filters)
    work = tiles.total * weights / 4 / (MULTIPLY_ADDS * lanes)
    return divides_rows(weights, moved, -(-tiles.total // mr), work)


@dataclass(frozen=True)
class Matrices:
    """A row-major matrix [rows, columns] for each position of a tile, in one flat buffer."""

    buffer: ir.Value
    columns: int
    step: int  # elements from one matrix to the next
    count: int
    start: Index = 0

    @staticmethod
    def allocate(count: int, rows: int, columns: int, sets: int = 1) -> Matrices:
        """count matrices, in so many sets, one after the other."""
        lines = -(-rows * columns // emit.LINE)
        step = (
            lines + 1 - lines % 2
        ) * emit.LINE  # an odd number of lines: what is next to each other shares no cache set
        return Matrices(emit.scratch(sets * count * step), columns, step, count)

    def of_set(self, number: Index) -> Matrices:
        return replace(self, start=emit.mul(number, self.count * self.step))

    def at(self, matrix: Index, row: Index) -> Index:
        return emit.add(self.start, emit.add(emit.mul(matrix, self.step), emit.mul(row, self.columns)))


def each_vector(channels: int, lanes: int, body: Callable[[Index, Chunk], None]) -> None:
    """Go through channels a vector at a time; the last one may have fewer valid lanes."""
    full = channels - channels % lanes

    def whole(channel: Index, _: list[ir.Value]) -> list[ir.Value]:
        body(channel, Chunk(0, lanes, lanes))
        return []

    emit.for_loop(0, full, lanes, [], whole)
    if channels % lanes:
        body(full, Chunk(0, lanes, channels % lanes))


def each_position(limits: Sequence[Index], body: Callable[..., None], *positions: Index) -> None:
    """Loops from 0, the last one innermost."""
    if not limits:
        body(*positions)
        return

    def inner(position: Index, _: list[ir.Value]) -> list[ir.Value]:
        each_position(limits[1:], body, *positions, position)
        return []

    emit.for_loop(0, limits[0], 1, [], inner)
