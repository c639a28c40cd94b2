"""The loops of a convolution or pooling around its taps: images, channel blocks, rows, tiles, rows of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Facts, Parameters
from aiopt.passes.templates.blocking import divides_rows
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.epilogue import Registers, Result, Tile
from aiopt.passes.templates.geometry import Axis, Geometry, Run, Span, plan_row
from aiopt.passes.templates.view import View
from aiopt.support.cost import MULTIPLY_ADDS

BLOCKS, ROWS, PIXELS = range(3)
_TASKS_PER_CORE = 8
_IDLE = 0.02  # differences in how long cores wait that do not count

# (tile, accumulators, spans, where the window's row starts in the input, where the kernel's row starts in the weights)
Taps = Callable[[Tile, Registers, tuple[Span, ...], Index, Index], Registers]
Begin = Callable[[Tile], Registers]
End = Callable[[Tile, Run, Registers], None]


@dataclass(frozen=True)
class Sweep:
    """Emits all tiles of a result [images, y, x, filters].

    numbers: nr filters in a block and mr pixels in a tile at most; a task has `rows` rows of one block or, with the
    order PIXELS, of all. order is one of BLOCKS, ROWS, PIXELS: what changes slowest.
    groups: parts of the filters that blocks do not cross (a depthwise convolution has one).
    begin gives the accumulators of a tile, taps adds what a row of the kernel sees to them, end stores them.
    input: the view of the images. first: the first row that is computed.
    """

    geometry: Geometry
    groups: int
    numbers: Parameters
    input: View
    first: Index
    begin: Begin
    taps: Taps
    end: End

    @staticmethod
    def of_result(
        geometry: Geometry,
        groups: int,
        numbers: Parameters,
        result: Result,
        source: View,
        first: Index,
        taps: Taps,
        place: Callable[[Tile], Tile] = lambda tile: tile,
    ) -> Sweep:
        """Tiles that begin with the bias and end with the kernel's elementwise ops, each in its place in the result."""

        def end(tile: Tile, _: Run, registers: Registers) -> None:
            result.end(place(tile), registers, True)

        def begin(tile: Tile) -> Registers:
            return result.begin(place(tile), True)

        return Sweep(geometry, groups, numbers, source, first, begin, taps, end)

    @property
    def _filters(self) -> int:
        return self.geometry.filters // self.groups

    @property
    def _blocks(self) -> int:
        return -(-self._filters // self.numbers["nr"])  # of a group

    def emit(self) -> None:
        """The whole kernel: a parallel loop over tasks."""
        images, blocks = self.geometry.images, self.groups * self._blocks
        parts = -(-self.geometry.rows // self.numbers["rows"])
        order = self.numbers["order"]
        if order == PIXELS:
            emit.forall([images, parts], self._all_blocks)
        elif order == ROWS:
            emit.forall([images, parts, blocks], lambda image, part, block: self._one_block(image, block, part))
        else:
            rows = images == 1 and parts > 1 and _divides_rows(self.geometry, self.numbers["lanes"])
            emit.forall([images, blocks, parts], self._one_block, along=2 if rows else 0)

    def _one_block(self, image: ir.Value, block: ir.Value, part: ir.Value) -> None:
        """A task: the rows of a part, for one block of filters, which may be a narrower one."""

        def rows(width: int) -> list[ir.Value]:
            self._walk(part, lambda run, row, pixel: self._tile(run, (image, row), pixel, block, width))
            return []

        nr = self.numbers["nr"]
        full, rest = divmod(self._filters, nr)
        if full and rest:
            place = block if self.groups == 1 else arith.remui(block, emit.index(self._blocks))
            emit.branch(emit.less(place, full), lambda: rows(nr), lambda: rows(rest))
        else:
            rows(nr if full else rest)

    def _all_blocks(self, image: ir.Value, part: ir.Value) -> None:
        """A task: the rows of a part, for all blocks of filters, tile by tile."""
        nr = self.numbers["nr"]
        full, rest = divmod(self._filters, nr)

        def visit(run: Run, row: Index, pixel: Index) -> None:
            def block(number: Index, _: list[ir.Value]) -> list[ir.Value]:
                self._tile(run, (image, row), pixel, number, nr)
                return []

            emit.for_loop(0, full, 1, [], block)
            if rest:
                self._tile(run, (image, row), pixel, full, rest)

        self._walk(part, visit)

    def _walk(self, part: ir.Value, visit: Callable[[Run, Index, Index], None]) -> None:
        """Go through the tiles of a task's rows."""
        rows, count = self.numbers["rows"], self.geometry.rows
        first = emit.mul(part, rows) if rows < count else 0
        upper = emit.minimum(emit.add(first, rows), count) if count % rows else emit.add(first, rows)
        first, upper = emit.add(first, self.first), emit.add(upper, self.first)

        def row(position: Index, _: list[ir.Value]) -> list[ir.Value]:
            for run in plan_row(self.geometry.x, self.numbers["mr"]):

                def tile(pixel: Index, _: list[ir.Value], run: Run = run) -> list[ir.Value]:
                    visit(run, position, pixel)
                    return []

                emit.for_loop(run.start, run.start + run.size * run.times, run.size, [], tile)
            return []

        emit.for_loop(first, upper, 1, [], row)

    def _tile(self, run: Run, lead: tuple[Index, Index], pixel: Index, block: Index, width: int) -> None:
        chunks = emit.chunks(width, self.numbers["lanes"], single=bool(self.numbers.get("dot")))
        tile = Tile(lead, pixel, self._column(block), run.size, chunks)
        self.end(tile, run, self._kernel_rows(tile, self.begin(tile), run.spans, block))

    def _column(self, block: Index) -> Index:
        """The first filter of a block."""
        nr = self.numbers["nr"]
        if self.groups == 1 or self._filters % nr == 0:
            return emit.mul(block, nr)
        group = arith.divui(emit.index(block), emit.index(self._blocks))
        return emit.add(
            emit.mul(group, self._filters), emit.mul(arith.remui(emit.index(block), emit.index(self._blocks)), nr)
        )

    def _kernel_rows(self, tile: Tile, registers: Registers, spans: tuple[Span, ...], block: Index) -> Registers:
        """All rows of the kernel that lie on the image."""
        geometry = self.geometry
        y, x = geometry.y, geometry.x
        image, row = tile.lead
        images, line, pixel, channel = self.input.strides
        taps_of_block = y.taps * x.taps * self._depth * self.numbers["nr"]
        top = emit.add(emit.mul(row, y.stride * line), -y.pad * line)
        start = emit.add(emit.mul(image, images), emit.add(top, emit.mul(tile.row, x.stride * pixel)))
        start = emit.add(start, emit.add(emit.mul(self._channel(tile, block), channel), -x.pad * pixel))
        start = emit.add(self.input.base, start)
        weights = emit.mul(block, taps_of_block)

        def body(tap: Index, sums: list[ir.Value]) -> Registers:
            at = emit.add(start, emit.mul(tap, y.dilation * line))
            return self.taps(tile, sums, spans, at, emit.add(weights, emit.mul(tap, taps_of_block // y.taps)))

        return emit.for_loop(*visible_taps(y, row), 1, registers, body)

    @property
    def _depth(self) -> int:
        """Channels that a filter reads."""
        return self.geometry.depth

    def _channel(self, tile: Tile, block: Index) -> Index:
        """The first channel of the input that a block reads."""
        if self.geometry.group == 1:
            return 0
        if self.groups == 1:
            return tile.column  # depthwise: its own
        return emit.mul(arith.divui(emit.index(block), emit.index(self._blocks)), self.geometry.depth)


def visible_taps(axis: Axis, position: Index) -> tuple[Index, Index]:
    """first <= tap < last: the taps of the window at a position that are not on padding."""
    if axis.inside:
        return 0, axis.taps
    if isinstance(position, int):
        seen = [tap for tap in range(axis.taps) if axis.sees(position, tap)]
        return (seen[0], seen[-1] + 1) if seen else (0, 0)
    before = arith.subi(emit.index(axis.pad), emit.index(emit.mul(position, axis.stride)))
    after = arith.addi(before, emit.index(axis.size))
    if axis.dilation != 1:
        before, after = (arith.ceildivsi(value, emit.index(axis.dilation)) for value in (before, after))
    return arith.maxsi(before, emit.index(0)), arith.minsi(after, emit.index(axis.taps))


def task_rows(geometry: Geometry, blocks: int, pixels: int, facts: Facts) -> int:
    """Rows of a task: at least as many as make `pixels`, but few enough for all cores to have some tasks.

    Down to half of them where cores then have more nearly as many rows.
    """
    least = -(-pixels // geometry.x.count)
    parts = -(-_TASKS_PER_CORE * facts.cores // (geometry.images * blocks))
    rows = max(1, min(geometry.rows, max(least, geometry.rows // max(parts, 1))))
    half = range(-(-rows // 2), rows + 1)

    units = geometry.images * (1 if _divides_rows(geometry, facts.lanes) else blocks)

    def idle(size: int) -> float:
        most = -(-units * -(-geometry.rows // size) // facts.cores) * size  # of the rows of all units, on a core
        return most * facts.cores / (units * geometry.rows) - 1

    return min(half, key=lambda size: (round(idle(size) / _IDLE), -size))


def _divides_rows(geometry: Geometry, lanes: int) -> bool:
    """Whether threads divide the rows of a result or its blocks of filters."""
    taps = geometry.y.taps * geometry.x.taps * geometry.depth * geometry.filters
    pixels = geometry.y.count * geometry.x.count
    moved = 4 * (pixels * geometry.filters + geometry.y.size * geometry.x.size * geometry.channels)
    return divides_rows(4 * taps, moved, geometry.y.count, pixels * taps / (MULTIPLY_ADDS * lanes))
