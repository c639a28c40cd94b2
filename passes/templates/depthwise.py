"""Depthwise convolutions with channels last: a filter for each channel, vectors of channels.

A tile of pixels of one row times a block of channels stays in registers while the rows of the kernel pass. The taps of
a row are unrolled, so that a pixel that several windows share is loaded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from mlir import ir

from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Facts, Parameters, Template
from aiopt.passes.templates.blocking import split
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.epilogue import Registers, Result, Tile, each_axis
from aiopt.passes.templates.geometry import Geometry, Span, is_depthwise, pairs_by_distance, read_geometry
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.sweep import BLOCKS, PIXELS, ROWS, Sweep, task_rows
from aiopt.passes.templates.view import Places

_TASK_PIXELS = 16
_L1_SETS, _L1_WAYS, _FULL = 64, 8, 0.8
_MAX_PIXELS, _FEW_PIXELS = 8, 4
_PRODUCTS_PER_CYCLE, _PIXEL_CYCLES = 1.5, 2.0  # of vectors; for loads and stores of each pixel of the result


def _matches(kernel: Contraction) -> bool:
    geometry = read_geometry(kernel)
    if geometry is None or not kernel.packable or kernel.out.size == 0 or kernel.turned:
        return False
    return is_depthwise(geometry)


def _parameters(kernel: Contraction, facts: Facts) -> Parameters:
    geometry, given = _geometry(kernel), kernel.pack
    lanes = facts.lanes if given is None else gcd(facts.lanes, given)
    wide = geometry.channels > lanes and _pixels(geometry, 2, facts) >= _FEW_PIXELS
    vectors = (2 if wide else 1) if given is None else given // lanes
    nr = vectors * lanes
    order = BLOCKS if block_stays(geometry, nr) else PIXELS
    blocks = -(-geometry.channels // nr) if order == BLOCKS else 1
    return {
        "lanes": lanes,
        "fma": int(facts.fma),
        "mr": split(geometry.x.count, _pixels(geometry, vectors, facts))[0][0],
        "nr": nr,
        "rows": task_rows(geometry, blocks, _TASK_PIXELS, facts),
        "order": order,
    }


def block_stays(geometry: Geometry, nr: int) -> bool:
    """True if an image's channels of a block stay in the L1 cache from row to row, where those of all blocks would not.

    Neighbouring pixels are a whole number of channels apart, a power of two of them in few sets of the cache.
    """
    pixel = 4 * geometry.channels
    sets = min(_L1_SETS, _L1_SETS * emit.LINE * 4 // gcd(_L1_SETS * emit.LINE * 4, pixel))
    lines = geometry.y.size * geometry.x.size * -(-nr // emit.LINE)
    window = geometry.y.taps * geometry.x.size * pixel
    return lines <= _FULL * sets * _L1_WAYS and window > _L1_SETS * _L1_WAYS * emit.LINE * 4


def _pixels(geometry: Geometry, vectors: int, facts: Facts) -> int:
    """Pixels of a tile: registers not taken by the weights of a row of the kernel and one loaded pixel."""
    return max(1, min(_MAX_PIXELS, facts.registers // vectors - geometry.x.taps - 1))


def _cost(kernel: Contraction, facts: Facts) -> float:
    geometry = _geometry(kernel)
    pixels = geometry.images * geometry.rows * geometry.x.count
    vectors = -(-geometry.channels // facts.lanes)
    return pixels * vectors * (geometry.y.taps * geometry.x.taps / _PRODUCTS_PER_CYCLE + _PIXEL_CYCLES)


def _ranges(kernel: Contraction, facts: Facts) -> dict[str, Sequence[int]]:
    return {
        "mr": range(1, _MAX_PIXELS + 1),
        "nr": (facts.lanes, 2 * facts.lanes) if kernel.pack is None else (kernel.pack,),
        "rows": range(1, _geometry(kernel).rows + 1),
        "order": (BLOCKS, ROWS, PIXELS),
    }


def _geometry(kernel: Contraction) -> Geometry:
    geometry = read_geometry(kernel)
    assert geometry is not None, "_matches has asked"
    return geometry


def _emit(kernel: Contraction, parameters: Parameters, places: Places) -> None:
    geometry, root = _geometry(kernel), kernel.root
    x, weight = places[root.input], places[root.weight].buffer  # pyright: ignore[reportAttributeAccessIssue]
    nr, fma = parameters["nr"], bool(parameters["fma"])

    def taps(tile: Tile, sums: Registers, spans: tuple[Span, ...], at: Index, weights: Index) -> Registers:
        totals, width = list(sums), len(tile.chunks)
        for column, chunk in enumerate(tile.chunks):
            loaded: dict[int, ir.Value] = {}
            for distance, pairs in pairs_by_distance(geometry.x, spans):
                element = emit.load(x.buffer, emit.add(at, distance * x.strides[2]), chunk)
                for pixel, tap in pairs:
                    if tap not in loaded:
                        loaded[tap] = emit.load(weight, emit.add(weights, tap * nr), chunk.full)
                    place = pixel * width + column
                    totals[place] = emit.multiply_add(element, loaded[tap], totals[place], fma)
        return totals

    result = Result.of(kernel, places, root.bias, each_axis(kernel.out.rank))  # pyright: ignore[reportAttributeAccessIssue]
    Sweep.of_result(geometry, 1, parameters, result, x, places.first, taps).emit()


TEMPLATE = Template(
    "depthwise", ("lanes", "fma", "mr", "nr", "rows", "order"), _matches, _cost, _parameters, _ranges, _emit
)
