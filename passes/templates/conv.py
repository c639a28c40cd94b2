"""Convolutions of images with channels last, dense or in groups, strided, dilated, padded without a copy.

A tile of pixels of one row times a block of filters stays in registers while all taps and channels pass. Shapes are
known, so the tiles at both ends of a row are emitted with just the taps they see; rows of the kernel that lie on
padding are skipped by loop bounds.
Source: Zhang, Franchetti and Low, High Performance Zero-Memory Overhead Direct Convolutions, ICML 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from mlir import ir

from aiopt.dialects.ext import type_of
from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Facts, Parameters, Template
from aiopt.passes.templates.blocking import Block, choose_block, fetches_ahead, register_blocks, split, step_cycles
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.epilogue import Axes, Registers, Result, Tile, each_axis, folds
from aiopt.passes.templates.geometry import Geometry, Span, is_depthwise, read_geometry
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.matmul import covers_pointwise
from aiopt.passes.templates.pairs import sums_pairs
from aiopt.passes.templates.reduce import Arithmetic, Columns, Rows, reduce_products
from aiopt.passes.templates.sweep import BLOCKS, ROWS, Sweep, task_rows
from aiopt.passes.templates.view import Places
from aiopt.support.types import item_bytes

_TASK_PIXELS = 24
_ROW_PIXELS = 24  # rows that are shorter leave small register tiles at their ends: pointwise ones join them
_PIXELS_JOINED: Axes = [[0], [], [1, 2], [3]]  # of [images, y, x, filters]


def _matches(kernel: Contraction) -> bool:
    geometry = read_geometry(kernel)
    if geometry is None or not kernel.packable or kernel.out.size == 0 or is_depthwise(geometry):
        return False
    return kernel.winograd is None and not covers_pointwise(kernel)  # else the weight is transformed


def _cost(kernel: Contraction, facts: Facts) -> float:
    geometry, block = _geometry(kernel), _block(kernel, facts)
    lanes, filters = facts.lanes, geometry.filters // geometry.group
    full, rest = divmod(filters, block.vectors * lanes)
    steps = sum(
        times
        * (
            full * step_cycles(Block(rows, block.vectors))
            + (step_cycles(Block(rows, -(-rest // lanes))) if rest else 0)
        )
        for rows, times in split(geometry.x.count, block.rows)
    )
    return geometry.images * geometry.rows * geometry.y.taps * geometry.x.taps * geometry.channels * steps


def _block(kernel: Contraction, facts: Facts) -> Block:
    geometry, given = _geometry(kernel), kernel.pack
    lanes = facts.lanes if given is None else gcd(facts.lanes, given)
    vectors = None if given is None else given // lanes
    filters = geometry.filters // geometry.group
    return choose_block(lambda limit: split(geometry.x.count, limit), filters, facts.registers, lanes, vectors)


def _parameters(kernel: Contraction, facts: Facts) -> Parameters:
    geometry, given = _geometry(kernel), kernel.pack
    lanes = facts.lanes if given is None else gcd(facts.lanes, given)
    filters, block = geometry.filters // geometry.group, _block(kernel, facts)
    nr = block.vectors * lanes
    blocks = geometry.group * -(-filters // nr)
    weight_bytes = (
        item_bytes(type_of(kernel.root.weight).element)  # pyright: ignore[reportAttributeAccessIssue]
        * geometry.y.taps
        * geometry.x.taps
        * geometry.depth
        * geometry.filters
    )
    image_bytes = item_bytes(type_of(kernel.root.input).element) * geometry.y.size * geometry.x.size * geometry.channels  # pyright: ignore[reportAttributeAccessIssue]
    image_bytes = image_bytes * geometry.rows // geometry.y.count
    return {
        "lanes": lanes,
        "fma": int(facts.fma),
        "dot": int(sums_pairs(kernel, facts, lanes)),
        "mr": block.rows,
        "nr": nr,
        "rows": task_rows(geometry, blocks, _TASK_PIXELS, facts),
        "order": ROWS if weight_bytes <= facts.l2_bytes // 2 < image_bytes else BLOCKS,
        "ahead": fetches_ahead(
            geometry.y.count * geometry.x.count, weight_bytes, weight_bytes // blocks, facts.l2_bytes
        ),
    }


def _ranges(kernel: Contraction, facts: Facts) -> dict[str, Sequence[int]]:
    blocks = list(register_blocks(facts.registers))
    return {
        "mr": sorted({block.rows for block in blocks}),
        "nr": sorted({block.vectors * facts.lanes for block in blocks}) if kernel.pack is None else [kernel.pack],
        "rows": range(1, _geometry(kernel).rows + 1),
        "order": (BLOCKS, ROWS),
        "ahead": (0, 1),
    }


def _geometry(kernel: Contraction) -> Geometry:
    geometry = read_geometry(kernel)
    assert geometry is not None, "_matches has asked"
    is_whole = kernel.rows is None and kernel.access(kernel.root.operation.operands[0]).is_plain
    joins = is_whole and geometry.is_pointwise and geometry.x.count < _ROW_PIXELS and folds(kernel, _PIXELS_JOINED)
    return geometry.in_rows(_ROW_PIXELS) if joins else geometry


def _emit(kernel: Contraction, parameters: Parameters, places: Places) -> None:
    geometry = _geometry(kernel)
    root = kernel.root
    x, weight = places[root.input], places[root.weight].buffer  # pyright: ignore[reportAttributeAccessIssue]
    width = geometry.x.count
    in_rows = width != kernel.out.shape[2]  # of its own
    if in_rows:
        images, _, column, channel = x.strides
        x = replace(
            x,
            shape=(*x.shape[:1], geometry.y.size, width, x.shape[3]),
            strides=(images, width * column, column, channel),
        )
    depth, nr, arithmetic = geometry.depth, parameters["nr"], Arithmetic.of(parameters)
    _, _, column, channel = x.strides
    pixel = geometry.x.stride * column  # elements between neighbours of a tile
    step = geometry.x.dilation * column  # elements between taps
    joined = channel == 1 and step == depth  # channels of neighbouring taps lie one after another, as their weights do

    def ahead(place: Index) -> Index | None:
        """The same weights of the next block of filters."""
        block = geometry.y.taps * geometry.x.taps * depth * nr
        return emit.minimum(emit.add(place, block), weight.type.shape[0] - block) if parameters["ahead"] else None  # pyright: ignore[reportAttributeAccessIssue]

    def span(tile: Tile, sums: Registers, s: Span, at: Index, weights: Index) -> Registers:
        offsets = [i * pixel for i in s.pixels]

        def tap(number: Index, totals: list[ir.Value], steps: int) -> Registers:
            rows = Rows(x.buffer, emit.add(at, emit.mul(number, step)), offsets, channel)
            place = emit.add(weights, emit.mul(number, depth * nr))
            columns = Columns(weight, place, nr, True, ahead(place), nr)
            return reduce_products(tile, s.pixels, totals, steps, rows, columns, arithmetic)

        if joined:
            return tap(s.first, sums, (s.last - s.first) * depth)
        return emit.for_loop(s.first, s.last, 1, sums, lambda number, totals: tap(number, totals, depth))

    def taps(tile: Tile, sums: Registers, spans: tuple[Span, ...], at: Index, weights: Index) -> Registers:
        for s in spans:
            sums = span(tile, sums, s, at, weights)
        return sums

    axes = _PIXELS_JOINED if in_rows else each_axis(kernel.out.rank)

    def place(tile: Tile) -> Tile:
        """Where a tile is in the result."""
        image, row = tile.lead
        return replace(tile, lead=(image, 0), row=emit.add(emit.mul(row, width), tile.row)) if in_rows else tile

    result = Result.of(kernel, places, root.bias, axes)  # pyright: ignore[reportAttributeAccessIssue]
    Sweep.of_result(geometry, geometry.group, parameters, result, x, places.first, taps, place).emit()


TEMPLATE = Template(
    "conv", ("lanes", "fma", "dot", "mr", "nr", "rows", "order", "ahead"), _matches, _cost, _parameters, _ranges, _emit
)
