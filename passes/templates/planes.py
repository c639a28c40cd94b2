"""Depthwise convolutions with channels first: a plane of pixels and a filter for each channel, vectors along rows.

A tile of some rows times a vector of pixels stays in registers while all taps pass: a vector of the input is loaded
once for all rows that see it. Vectors that reach over the ends of a row are shuffled from those inside, with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import vector

from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Facts, Parameters, Template
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.epilogue import Result, Tile, each_axis
from aiopt.passes.templates.geometry import Axis, Geometry, Run, is_depthwise, pairs_by_distance, plan_row, read_planes
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.view import Places, View

_MAX_TAPS = 49  # all are unrolled
_MAX_STRIDE = 2  # two loads have all pixels of a vector
_MAX_ROWS = 8
_ROWS = 4
_TASK_PIXELS = 4096
_TASKS_PER_CORE = 8
_PRODUCTS_PER_CYCLE, _VECTOR_CYCLES = 1.5, 2.0  # of vectors; for loads and stores of each vector of the result


def _matches(kernel: Contraction) -> bool:
    geometry = read_planes(kernel)
    if geometry is None or not is_depthwise(geometry) or kernel.out.size == 0:
        return False
    return geometry.x.stride <= _MAX_STRIDE and geometry.y.taps * geometry.x.taps <= _MAX_TAPS


def _geometry(kernel: Contraction) -> Geometry:
    geometry = read_planes(kernel)
    assert geometry is not None, "_matches has asked"
    return geometry


def _parameters(kernel: Contraction, facts: Facts) -> Parameters:
    geometry = _geometry(kernel)
    pixels, total = geometry.y.count * geometry.x.count, geometry.images * geometry.channels
    planes = max(1, min(_TASK_PIXELS // pixels, total // (_TASKS_PER_CORE * facts.cores), geometry.channels))
    parts = -(-facts.cores * _TASKS_PER_CORE // -(-total // planes)) if planes == 1 else 1
    rows = min(_ROWS, geometry.y.count)
    tiles = -(-geometry.y.count // rows)
    return {
        "lanes": facts.lanes,
        "fma": int(facts.fma),
        "mr": rows,
        "planes": planes,
        "tiles": max(1, tiles // parts),
    }


def _cost(kernel: Contraction, facts: Facts) -> float:
    geometry = _geometry(kernel)
    vectors = geometry.images * geometry.channels * geometry.y.count * -(-geometry.x.count // facts.lanes)
    return vectors * (geometry.y.taps * geometry.x.taps / _PRODUCTS_PER_CYCLE + _VECTOR_CYCLES)


def _ranges(kernel: Contraction, facts: Facts) -> dict[str, Sequence[int]]:
    geometry = _geometry(kernel)
    return {
        "mr": range(1, _MAX_ROWS + 1),
        "planes": range(1, geometry.channels + 1),
        "tiles": range(1, geometry.y.count + 1),
    }


@dataclass(frozen=True)
class _Emitter:
    geometry: Geometry
    numbers: Parameters
    result: Result
    x: View
    weight: ir.Value  # flat

    @property
    def runs(self) -> list[Run]:
        """Tiles of rows that see the same rows of the kernel."""
        return plan_row(self.geometry.y, self.numbers["mr"])

    def emit(self) -> None:
        """The whole kernel: a parallel loop over images, some channels and some tiles of rows."""
        geometry, planes, tiles = self.geometry, self.numbers["planes"], self.numbers["tiles"]
        parts = -(-sum(run.times for run in self.runs) // tiles)

        def task(image: ir.Value, group: ir.Value, part: ir.Value) -> None:
            first = emit.mul(group, planes)
            last = emit.add(first, planes)
            last = emit.minimum(last, geometry.channels) if geometry.channels % planes else last

            def plane(channel: Index, _: list[ir.Value]) -> list[ir.Value]:
                self._plane((image, channel), None if parts == 1 else emit.mul(part, tiles))
                return []

            emit.for_loop(first, last, 1, [], plane)

        emit.forall([geometry.images, -(-geometry.channels // planes), parts], task)

    def _plane(self, lead: tuple[Index, Index], first: Index | None) -> None:
        """Tiles of rows of a plane; first: of those of a task, None for all there are."""
        taps = self.geometry.y.taps * self.geometry.x.taps
        place = emit.mul(lead[1], taps)
        kind = Chunk(0, self.numbers["lanes"], self.numbers["lanes"]).kind
        weights = [emit.load_scalar(self.weight, emit.add(place, tap), kind) for tap in range(taps)]
        before = 0  # tiles
        for run in self.runs:

            def rows(row: Index, _: list[ir.Value], run: Run = run) -> list[ir.Value]:
                self._rows(lead, row, run, weights)
                return []

            lower, upper = run.start, run.start + run.size * run.times
            if first is None:
                emit.for_loop(lower, upper, run.size, [], rows)
            else:
                begin = emit.maximum(first, before)
                end = emit.minimum(emit.add(first, self.numbers["tiles"]), before + run.times)
                shift = run.start - before * run.size
                lower, upper = (emit.add(emit.mul(bound, run.size), shift) for bound in (begin, end))
                emit.for_loop(lower, upper, run.size, [], rows)
            before += run.times

    def _rows(self, lead: tuple[Index, Index], row: Index, run: Run, weights: list[ir.Value]) -> None:
        """A tile of rows, vector by vector: loops over those whose windows lie inside, the others one by one."""
        axis, lanes = self.geometry.x, self.numbers["lanes"]
        inside = [at for at in range(0, axis.count - lanes + 1, lanes) if is_inside(axis, at, lanes)]

        def visit(pixel: Index, _: list[ir.Value]) -> list[ir.Value]:
            self._tile(lead, row, pixel, run, weights)
            return []

        for at in range(0, axis.count, lanes):
            if at not in inside:
                visit(at, [])
            elif at == inside[0]:
                emit.for_loop(at, inside[-1] + lanes, lanes, [], visit)

    def _tile(self, lead: tuple[Index, Index], row: Index, pixel: Index, run: Run, weights: list[ir.Value]) -> None:
        geometry, lanes = self.geometry, self.numbers["lanes"]
        y, x = geometry.y, geometry.x
        valid = lanes if isinstance(pixel, ir.Value) else min(lanes, x.count - pixel)
        tile = Tile(lead, row, pixel, run.size, [Chunk(0, lanes, valid)])
        images, channels, line, _ = self.x.strides
        plane = emit.add(self.x.base, emit.dot(lead, [images, channels]))
        first = emit.add(emit.mul(row, y.stride), -y.pad)  # row of the input
        sums = self.result.begin(tile, True)
        for distance, pairs in pairs_by_distance(y, run.spans):
            start = emit.add(plane, emit.mul(emit.add(first, distance), line))
            for tap in range(x.taps):
                pixels = self._pixels(start, pixel, tap, valid)
                if pixels is None:
                    continue
                for place, kernel_row in pairs:
                    weight = weights[kernel_row * x.taps + tap]
                    sums[place] = emit.multiply_add(pixels, weight, sums[place], bool(self.numbers["fma"]))
        self.result.end(tile, sums, True)

    def _pixels(self, start: Index, pixel: Index, tap: int, valid: int) -> ir.Value | None:
        """What a tap sees from the windows of a vector on; None if that is all padding. start: of the row."""
        axis, lanes = self.geometry.x, self.numbers["lanes"]
        shift = tap * axis.dilation - axis.pad
        steps = [lane * axis.stride for lane in range(valid)]
        if isinstance(pixel, ir.Value):
            at, cover = emit.add(emit.mul(pixel, axis.stride), shift), cover_row(steps, steps[-1] + 1, lanes)
        else:
            at, cover = 0, cover_row([pixel * axis.stride + shift + step for step in steps], axis.size, lanes)
        if cover is None:
            return None
        chunk = Chunk(0, lanes, min(lanes, axis.size))
        loaded = [emit.load(self.x.buffer, emit.add(start, emit.add(at, first)), chunk) for first in cover.starts]
        return cover.select(loaded, lanes)


@dataclass(frozen=True)
class Cover:
    """How the elements of a row that are wanted come of vectors that lie in it.

    starts: where vectors are loaded, one or two. lanes: the element of these for each that is wanted, None: a zero.
    """

    starts: tuple[int, ...]
    lanes: tuple[int | None, ...]

    def select(self, loaded: Sequence[ir.Value], lanes: int) -> ir.Value:
        """The vector of them; what follows the last one is anything."""
        mask = [*self.lanes, *range(len(self.lanes), lanes)]
        zeros = emit.zeros(Chunk(0, lanes, lanes))
        if len(loaded) == 1:
            if mask == list(range(lanes)):
                return loaded[0]
            return vector.ShuffleOp(loaded[0], zeros, [lanes if place is None else place for place in mask]).result
        found = vector.ShuffleOp(loaded[0], loaded[1], [0 if place is None else place for place in mask]).result
        if None not in mask:
            return found
        kept = [lanes if place is None else lane for lane, place in enumerate(mask)]
        return vector.ShuffleOp(found, zeros, kept).result


def cover_row(positions: Sequence[int], size: int, lanes: int) -> Cover | None:
    """Elements at ascending positions of a row of `size`, of which those outside are zeros; None if all are."""
    seen = [position for position in positions if 0 <= position < size]
    if not seen:
        return None
    first = max(0, min(seen[0], size - lanes))
    last = max(0, seen[-1] - lanes + 1)
    starts = (first,) if last <= first else (first, last)

    def place(position: int) -> int | None:
        if not 0 <= position < size:
            return None
        return position - first if position < first + lanes else lanes + position - last

    return Cover(starts, tuple(place(position) for position in positions))


def is_inside(axis: Axis, pixel: int, lanes: int) -> bool:
    """True if no window of `lanes` neighbours touches padding."""
    return all(axis.sees(at, tap) for at in (pixel, pixel + lanes - 1) for tap in (0, axis.taps - 1))


def _emit(kernel: Contraction, parameters: Parameters, places: Places) -> None:
    root = kernel.root
    x, weight = places[root.input], places[root.weight].buffer  # pyright: ignore[reportAttributeAccessIssue]
    result = Result.of(kernel, places, root.bias, each_axis(kernel.out.rank))  # pyright: ignore[reportAttributeAccessIssue]
    _Emitter(_geometry(kernel), parameters, result, x, weight).emit()


TEMPLATE = Template("planes", ("lanes", "fma", "mr", "planes", "tiles"), _matches, _cost, _parameters, _ranges, _emit)
