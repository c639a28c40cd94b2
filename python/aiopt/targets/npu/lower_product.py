"""One matrix product to ops of the high tier.

For each tile of the result, and for each chunk of k in it, the parts of both operands come to the chip; the array adds
up the sums of the tile, fold by fold; the vector unit makes results of them, which go back to dram. There are `depth`
buffers of each kind, which take turns: while the array works on one pair of operands, the next ones are loaded.
Bias and scales stay in the scratchpad throughout.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import memref

from aiopt.dialects.ext import buffer_type
from aiopt.dialects.npu import (
    ACC,
    SPAD,
    StartLoadOp,
    StartStoreOp,
    TileMatMulOp,
    TileRequantOp,
    TileVecOp,
    WaitOp,
)
from aiopt.targets.npu.isa import ELEMENTS, Element
from aiopt.targets.npu.kernel import Product
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.tiles import Problem, Tiles


@dataclass(frozen=True)
class Operands:
    """The buffers of a product in dram: left [m, k], right [k, n], result [m, n], bias and scales [n]."""

    left: ir.Value
    right: ir.Value
    bias: ir.Value | None
    scales: ir.Value | None
    result: ir.Value


@dataclass(frozen=True)
class _Tile:
    """A tile of the result: which one it is, where it begins, how large it is."""

    number: int
    row: int
    column: int
    rows: int
    columns: int


class _Views:
    """Blocks of buffers; the same block is made once."""

    def __init__(self) -> None:
        self._made: dict[tuple[ir.Value, tuple[int, ...], tuple[int, ...]], ir.Value] = {}

    def block(self, buffer: ir.Value, start: Sequence[int], shape: Sequence[int]) -> ir.Value:
        """The block of this shape that begins at these indices."""
        key = (buffer, tuple(start), tuple(shape))
        if key not in self._made:
            self._made[key] = self._make(buffer, start, shape)
        return self._made[key]

    @staticmethod
    def _make(buffer: ir.Value, start: Sequence[int], shape: Sequence[int]) -> ir.Value:
        kind, whole = buffer_type(buffer), ir.MemRefType(buffer.type)
        if kind.shape == tuple(shape):
            return buffer
        offset = kind.offset + sum(i * stride for i, stride in zip(start, kind.strides, strict=True))
        layout = ir.StridedLayoutAttr.get(offset, list(kind.strides))
        result = ir.MemRefType.get(list(shape), whole.element_type, layout, whole.memory_space)
        ones = [1] * len(shape)
        return memref.SubViewOp(result, buffer, [], [], [], list(start), list(shape), ones).result


class ProductLowering:
    """Emits a product at the current insertion point and location."""

    def __init__(self, product: Product, problem: Problem, tiles: Tiles, machine: Machine, operands: Operands) -> None:
        self._product, self._problem, self._tiles = product, problem, tiles
        self._machine, self._operands = machine, operands
        self._views = _Views()
        grid = itertools.product(range(0, problem.n, tiles.n), range(0, problem.m, tiles.m))
        self._grid = [
            _Tile(number, row, column, min(tiles.m, problem.m - row), min(tiles.n, problem.n - column))
            for number, (column, row) in enumerate(grid)
        ]
        self._chunks = range(0, problem.k, tiles.k)
        self._uses = list(itertools.product(self._grid, self._chunks))
        element, result = _type(problem.element), _type(problem.result)
        sums = _type(Element.F32 if problem.element == Element.F32 else Element.I32)
        weights = element if problem.element == Element.F32 else _type(Element.I8)
        fill, finish = min(tiles.depth, len(self._uses)), min(tiles.depth, len(self._grid))
        self._left = [_alloc((tiles.m, tiles.k), element, SPAD) for _ in range(fill)]
        self._right = [_alloc((tiles.k, tiles.n), weights, SPAD) for _ in range(fill)]
        self._sums = [_alloc((tiles.m, tiles.n), sums, ACC) for _ in range(finish)]
        self._results = [_alloc((tiles.m, tiles.n), result, SPAD) for _ in range(finish)]
        self._loads: list[list[ir.Value]] = []  # tokens of the operands, by use
        self._stores: list[ir.Value] = []  # tokens of the results, by tile

    def emit(self) -> None:
        """All of it."""
        bias, scales = self._resident(self._operands.bias), self._resident(self._operands.scales)
        ahead = self._tiles.depth
        for use in range(min(ahead, len(self._uses))):
            self._load(use)
        for use, (tile, start) in enumerate(self._uses):
            _wait(self._loads[use])
            self._multiply(use)
            if use + ahead < len(self._uses):
                self._load(use + ahead)
            if start == self._chunks[-1]:
                if tile.number >= ahead:
                    _wait([self._stores[tile.number - ahead]])
                self._finish(tile, bias, scales)
                self._store(tile)
        _wait(self._stores[-ahead:])

    def _resident(self, row: ir.Value | None) -> ir.Value | None:
        """A row in the scratchpad, once it is there."""
        if row is None:
            return None
        kind = buffer_type(row)
        buffer = _alloc(kind.shape, ir.Type.parse(kind.element), SPAD)
        _wait([StartLoadOp(row, buffer).operation.results[0]])
        return buffer

    def _operand_blocks(self, use: int) -> tuple[ir.Value, ir.Value]:
        """What a use has on the chip of left and right."""
        tile, start = self._uses[use]
        turn, length = use % self._tiles.depth, min(self._tiles.k, self._problem.k - start)
        left = self._views.block(self._left[turn], (0, 0), (tile.rows, length))
        return left, self._views.block(self._right[turn], (0, 0), (length, tile.columns))

    def _load(self, use: int) -> None:
        tile, start = self._uses[use]
        left, right = self._operand_blocks(use)
        sources = (
            self._views.block(self._operands.left, (tile.row, start), buffer_type(left).shape),
            self._views.block(self._operands.right, (start, tile.column), buffer_type(right).shape),
        )
        pairs = zip(sources, (left, right), strict=True)
        self._loads.append([StartLoadOp(source, target).operation.results[0] for source, target in pairs])

    def _multiply(self, use: int) -> None:
        """Fold by fold: all of k for some columns, then the next ones."""
        tile, start = self._uses[use]
        left, right = self._operand_blocks(use)
        length = buffer_type(left).shape[1]
        sums = self._sums[tile.number % self._tiles.depth]
        rows, columns = self._machine.rows, self._machine.columns
        for column, k in itertools.product(range(0, tile.columns, columns), range(0, length, rows)):
            inner, width = min(rows, length - k), min(columns, tile.columns - column)
            TileMatMulOp(
                self._views.block(left, (0, k), (tile.rows, inner)),
                self._views.block(right, (k, column), (inner, width)),
                self._views.block(sums, (0, column), (tile.rows, width)),
                accumulate=True if start + k > 0 else None,
            )

    def _finish(self, tile: _Tile, bias: ir.Value | None, scales: ir.Value | None) -> None:
        """Sums to results."""
        turn, shape = tile.number % self._tiles.depth, (tile.rows, tile.columns)
        sums = self._views.block(self._sums[turn], (0, 0), shape)
        result = self._views.block(self._results[turn], (0, 0), shape)
        bias, scales = (
            None if row is None else self._views.block(row, (tile.column,), (tile.columns,)) for row in (bias, scales)
        )
        relu, requantize = self._product.relu, self._product.requantize
        if requantize is not None:
            scale = None if scales is not None else float(requantize.scale)
            zero_point = requantize.zero_point
            TileRequantOp(sums, bias, scales, result, scale=scale, zero_point=zero_point, relu=True if relu else None)
            return
        if bias is not None:
            TileVecOp(sums, bias, result, op="add")
        if relu:
            TileVecOp(sums if bias is None else result, None, result, op="max", immediate=0.0)
        if bias is None and not relu:
            TileVecOp(sums, None, result, op="copy")

    def _store(self, tile: _Tile) -> None:
        shape = (tile.rows, tile.columns)
        result = self._views.block(self._results[tile.number % self._tiles.depth], (0, 0), shape)
        target = self._views.block(self._operands.result, (tile.row, tile.column), shape)
        self._stores.append(StartStoreOp(result, target).operation.results[0])


def _type(element: Element) -> ir.Type:
    return ir.Type.parse(next(name for name, known in ELEMENTS.items() if known == element))


def _alloc(shape: Sequence[int], element: ir.Type, space: str) -> ir.Value:
    kind = ir.MemRefType.get(list(shape), element, None, ir.Attribute.parse(space))
    return memref.AllocOp(kind, [], []).memref


def _wait(tokens: Sequence[ir.Value]) -> None:
    for token in tokens:
        WaitOp(token)
