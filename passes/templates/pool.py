"""Pooling with channels last, largest elements or means: vectors of channels.

A tile of pixels of one row times a block of channels stays in registers while the rows of the window pass. What lies on
padding is left out by loop bounds; a pixel that several windows share is loaded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from mlir import ir
from mlir.dialects import arith, vector

from aiopt.dialects import ai
from aiopt.passes.lower.linalg.builder import constant
from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Facts, Parameters, Template, no_rival
from aiopt.passes.templates.blocking import split
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.epilogue import Registers, Result, Tile, each_axis
from aiopt.passes.templates.geometry import Geometry, Run, Span, pairs_by_distance, read_pooling
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.sweep import BLOCKS, PIXELS, ROWS, Sweep, task_rows, visible_taps
from aiopt.passes.templates.view import Places

_TASK_PIXELS = 16
_MAX_UNROLLED = 16  # taps of a row of the window
_ACCUMULATORS = 8  # enough to hide how long an instruction takes, and half of the registers


def _matches(kernel: Contraction) -> bool:
    return read_pooling(kernel) is not None


def _geometry(kernel: Contraction) -> Geometry:
    geometry = read_pooling(kernel)
    assert geometry is not None, "_matches has asked"
    return geometry


def _parameters(kernel: Contraction, facts: Facts) -> Parameters:
    geometry = _geometry(kernel)
    vectors = split(-(-geometry.channels // facts.lanes), _ACCUMULATORS)[0][0]  # whole lines before neighbours
    pixels = split(geometry.x.count, max(1, _ACCUMULATORS // vectors))[0][0]
    blocks = -(-geometry.channels // (vectors * facts.lanes))
    single = geometry.images * geometry.y.count < facts.cores
    return {
        "lanes": facts.lanes,
        "mr": pixels,
        "nr": vectors * facts.lanes,
        "rows": task_rows(geometry, blocks if single else 1, _TASK_PIXELS, facts),
        "order": BLOCKS if single else PIXELS,
    }


def _ranges(kernel: Contraction, facts: Facts) -> dict[str, Sequence[int]]:
    return {
        "mr": range(1, _ACCUMULATORS + 1),
        "nr": [vectors * facts.lanes for vectors in range(1, _ACCUMULATORS + 1)],
        "rows": range(1, _geometry(kernel).y.count + 1),
        "order": (BLOCKS, ROWS, PIXELS),
    }


@dataclass(frozen=True)
class _Fold:
    """How the elements of a window become one."""

    start: float
    combine: Callable[[ir.Value, ir.Value], ir.Value]

    @staticmethod
    def of(root: ai.MaxPoolOp | ai.AvgPoolOp) -> _Fold:
        if isinstance(root, ai.AvgPoolOp):
            return _Fold(0.0, arith.addf)
        # Which of two zeros it is costs as much as all else.
        return _Fold(-inf, lambda a, b: arith.maximumf(a, b, fastmath=arith.FastMathFlags.nsz))


def _emit(kernel: Contraction, parameters: Parameters, places: Places) -> None:
    geometry, root = _geometry(kernel), kernel.root
    assert isinstance(root, (ai.MaxPoolOp, ai.AvgPoolOp)), "_matches has asked"
    x, fold = places[root.input], _Fold.of(root)
    result = Result.of(kernel, places, None, each_axis(kernel.out.rank))
    column = x.strides[2]

    def begin(tile: Tile) -> Registers:
        return [constant(fold.start, chunk.kind) for _, chunk in tile.cells()]

    def add(tile: Tile, totals: Registers, pixel: int, elements: list[ir.Value]) -> None:
        for column, element in enumerate(elements):
            place = pixel * len(tile.chunks) + column
            totals[place] = fold.combine(totals[place], element)

    def load(tile: Tile, at: Index) -> list[ir.Value]:
        return [emit.load(x.buffer, at, chunk) for chunk in tile.chunks]

    def unrolled(tile: Tile, sums: Registers, spans: tuple[Span, ...], at: Index, _: Index) -> Registers:
        totals = list(sums)
        for distance, pairs in pairs_by_distance(geometry.x, spans):
            elements = load(tile, emit.add(at, distance * column))
            for pixel, _tap in pairs:
                add(tile, totals, pixel, elements)
        return totals

    def looped(tile: Tile, sums: Registers, spans: tuple[Span, ...], at: Index, _: Index) -> Registers:
        for span in spans:

            def tap(number: Index, carried: list[ir.Value], span: Span = span) -> Registers:
                totals = list(carried)
                for pixel in span.pixels:
                    step = emit.add(emit.mul(number, geometry.x.dilation * column), pixel * geometry.x.stride * column)
                    add(tile, totals, pixel, load(tile, emit.add(at, step)))
                return totals

            sums = emit.for_loop(span.first, span.last, 1, sums, tap)
        return sums

    def end(tile: Tile, run: Run, registers: Registers) -> None:
        if isinstance(root, ai.AvgPoolOp):
            registers = _means(root, geometry, tile, run, registers)
        result.end(tile, registers, True)

    taps = unrolled if geometry.x.taps <= _MAX_UNROLLED else looped
    Sweep(geometry, 1, parameters, x, places.first, begin, taps, end).emit()


def _means(root: ai.AvgPoolOp, geometry: Geometry, tile: Tile, run: Run, sums: Registers) -> Registers:
    """The sums by how many elements they are of: those inside the input or all of the window."""
    y, x = geometry.y, geometry.x
    if root.count_include_pad.value:
        counts: list[Index] = [y.taps * x.taps] * tile.rows
    else:
        first, last = visible_taps(y, tile.lead[1])
        rows = emit.maximum(emit.add(last, emit.mul(first, -1)), 0)
        seen = [sum(s.last - s.first for s in run.spans if pixel in s.pixels) for pixel in range(tile.rows)]
        columns = {count: emit.mul(rows, count) for count in dict.fromkeys(seen)}
        counts = [columns[count] for count in seen]
    divisors = {count: _splat(count, tile) for count in dict.fromkeys(counts)}
    return [arith.divf(total, divisors[counts[row]]) for total, (row, _) in zip(sums, tile.cells(), strict=True)]


def _splat(count: Index, tile: Tile) -> ir.Value:
    kind = tile.chunks[0].kind
    if isinstance(count, int):
        return constant(float(count), kind)
    number = arith.index_cast(ir.IntegerType.get_signless(32), count)
    return vector.BroadcastOp(kind, arith.sitofp(kind.element_type, number)).result


TEMPLATE = Template("pool", ("lanes", "mr", "nr", "rows", "order"), _matches, no_rival, _parameters, _ranges, _emit)
