"""Matrix products to instructions.

Four queues work at the same time, each on a buffer of its own:

    load     for each tile of the result, for each chunk of k: the left and the right operand's part
    matrix   for each chunk: fold by fold, weights and the rows that stream past them, into a tile of accumulators
    vector   for each tile: bias, requantization, relu, into a buffer of results
    store    for each tile: to dram

A buffer has two semaphores: `full` from the queue that fills it to the one that empties it, and `free` back, the credit
to fill it again. The first uses need no credit and the last give none, so that each wait is needed: without it, there
is a race. Bias and scales are loaded first; all that follows in the load queue signals that they are there, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from aiopt.targets.npu.encoding import Instruction, Queue, Token, Tokens
from aiopt.targets.npu.isa import (
    DmaLoad,
    DmaStore,
    Element,
    LoadWeights,
    MatMul,
    Requant,
    SemInit,
    Space,
    Vec,
    VectorOp,
)
from aiopt.targets.npu.layer import MatMul as Layer
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.tiles import ALIGNMENT, Problem, Tiles


@dataclass(frozen=True)
class _Ring:
    """Buffers that take turns, and the semaphores between who fills and who empties them."""

    full: int
    free: int
    filler: Queue
    emptier: Queue

    def init(self) -> list[Instruction]:
        return [
            SemInit(semaphore=self.full, signaller=self.filler, waiter=self.emptier),
            SemInit(semaphore=self.free, signaller=self.emptier, waiter=self.filler),
        ]

    def before_fill(self, use: int, depth: int) -> Tokens:
        return (Token(self.free),) if use >= depth else ()

    def after_empty(self, use: int, depth: int, uses: int) -> Tokens:
        return (Token(self.free),) if use + depth < uses else ()

    @property
    def filled(self) -> Tokens:
        return (Token(self.full),)


_OPERANDS = _Ring(0, 1, Queue.LOAD, Queue.MATRIX)
_SUMS = _Ring(2, 3, Queue.MATRIX, Queue.VECTOR)
_RESULTS = _Ring(4, 5, Queue.VECTOR, Queue.STORE)


def semaphores() -> list[Instruction]:
    """What a program with products begins with."""
    return [*_OPERANDS.init(), *_SUMS.init(), *_RESULTS.init()]


@dataclass(frozen=True)
class Places:
    """Where the operands of a layer are in dram."""

    x: int
    weight: int
    y: int
    bias: int | None = None
    scales: int | None = None  # one for each column


@dataclass(frozen=True)
class _Tile:
    """A tile of the result: where it begins, how large it is, which one it is."""

    number: int
    row: int
    column: int
    rows: int
    columns: int


def problem_of(layer: Layer, m: int, element: Element) -> Problem:
    """What tiles are chosen for."""
    rows = (layer.bias is not None) + (layer.requantize is not None and layer.requantize.scale.ndim == 1)
    passes = max(1, (layer.bias is not None) + layer.relu) if layer.is_float else 1
    resident = rows * -(-4 * layer.n // ALIGNMENT) * ALIGNMENT
    return Problem(m, layer.n, layer.k, element, layer.result, resident, passes)


class Lowering:
    """One layer: its instructions, in an order in which the queues find their work in time."""

    def __init__(self, layer: Layer, problem: Problem, places: Places, tiles: Tiles, machine: Machine) -> None:
        self._layer, self._problem, self._places, self._tiles = layer, problem, places, tiles
        self._machine = machine
        row = -(-4 * layer.n // ALIGNMENT) * ALIGNMENT
        self._bias = 0
        self._scales = row if places.bias is not None else 0
        self._left = problem.resident_bytes
        self._right = self._left + tiles.depth * tiles.left_bytes(problem)
        self._out = self._right + tiles.depth * tiles.right_bytes(problem)
        self._chunks = -(-problem.k // tiles.k)
        grid = itertools.product(range(0, problem.n, tiles.n), range(0, problem.m, tiles.m))
        self._grid = [
            _Tile(number, row, column, min(tiles.m, problem.m - row), min(tiles.n, problem.n - column))
            for number, (column, row) in enumerate(grid)
        ]

    def instructions(self) -> Iterator[Instruction]:
        """All of them."""
        for there, at in ((self._places.bias, self._bias), (self._places.scales, self._scales)):
            if there is not None:
                yield DmaLoad(dram=there, spad=at, rows=1, row_bytes=4 * self._problem.n)
        for tile in self._grid:
            for chunk in range(self._chunks):
                yield from self._load(tile, chunk)
                yield from self._multiply(tile, chunk)
            yield from self._float_results(tile) if self._layer.is_float else self._integer_results(tile)
            yield self._store(tile)

    def _chunk(self, tile: _Tile, chunk: int) -> tuple[int, int, int]:
        """Which use of a buffer a chunk is, where it begins in k, and its length."""
        start = chunk * self._tiles.k
        return tile.number * self._chunks + chunk, start, min(self._tiles.k, self._problem.k - start)

    def _buffers(self, use: int) -> tuple[int, int]:
        """Where the operands of a use of their buffers are."""
        turn = use % self._tiles.depth
        left = self._left + turn * self._tiles.left_bytes(self._problem)
        return left, self._right + turn * self._tiles.right_bytes(self._problem)

    def _load(self, tile: _Tile, chunk: int) -> Iterator[Instruction]:
        size, (use, start, length) = self._problem.element.bytes, self._chunk(tile, chunk)
        left, right = self._buffers(use)
        yield DmaLoad(
            dram=self._places.x + (tile.row * self._problem.k + start) * size,
            spad=left,
            rows=tile.rows,
            row_bytes=length * size,
            dram_stride=self._problem.k * size,
            spad_stride=length * size,
            waits=_OPERANDS.before_fill(use, self._tiles.depth),
        )
        yield DmaLoad(
            dram=self._places.weight + (start * self._problem.n + tile.column) * size,
            spad=right,
            rows=length,
            row_bytes=tile.columns * size,
            dram_stride=self._problem.n * size,
            spad_stride=tile.columns * size,
            signals=_OPERANDS.filled,
        )

    def _multiply(self, tile: _Tile, chunk: int) -> Iterator[Instruction]:
        size, (use, start, length) = self._problem.element.bytes, self._chunk(tile, chunk)
        left, right = self._buffers(use)
        rows, columns = self._machine.rows, self._machine.columns
        folds = list(itertools.product(range(0, tile.columns, columns), range(0, length, rows)))
        for number, (column, k) in enumerate(folds):
            inner, width = min(rows, length - k), min(columns, tile.columns - column)
            first, last = number == 0, number == len(folds) - 1
            yield LoadWeights(
                spad=right + (k * tile.columns + column) * size,
                stride=tile.columns * size,
                rows=inner,
                columns=width,
                element=Element.F32 if self._layer.is_float else Element.I8,
                waits=_OPERANDS.filled if first else (),
            )
            signals: Tokens = ()
            if last:
                signals += _OPERANDS.after_empty(use, self._tiles.depth, len(self._grid) * self._chunks)
                signals += _SUMS.filled if chunk == self._chunks - 1 else ()
            yield MatMul(
                spad=left + k * size,
                stride=length * size,
                acc=self._acc(tile) + column * 4,
                acc_stride=tile.columns * 4,
                rows=tile.rows,
                inner=inner,
                columns=width,
                element=self._problem.element,
                accumulate=start + k > 0,
                swap=True,
                waits=_SUMS.before_fill(tile.number, self._tiles.depth) if first and chunk == 0 else (),
                signals=signals,
            )

    def _acc(self, tile: _Tile) -> int:
        return tile.number % self._tiles.depth * self._tiles.acc_bytes()

    def _result(self, tile: _Tile) -> int:
        return self._out + tile.number % self._tiles.depth * self._tiles.out_bytes(self._problem)

    def _result_waits(self, tile: _Tile) -> Tokens:
        return _SUMS.filled + _RESULTS.before_fill(tile.number, self._tiles.depth)

    def _sums_done(self, tile: _Tile) -> Tokens:
        return _SUMS.after_empty(tile.number, self._tiles.depth, len(self._grid))

    def _integer_results(self, tile: _Tile) -> Iterator[Instruction]:
        requantize = self._layer.requantize
        assert requantize is not None, "integer layers are requantized (layer.check)"
        per_column = self._places.scales is not None
        yield Requant(
            acc=self._acc(tile),
            acc_stride=tile.columns * 4,
            out=self._result(tile),
            out_stride=tile.columns,
            bias=self._bias + tile.column * 4 if self._layer.bias is not None else 0,
            scales=self._scales + tile.column * 4 if per_column else 0,
            rows=tile.rows,
            columns=tile.columns,
            scale=0.0 if per_column else float(requantize.scale),
            zero_point=requantize.zero_point,
            element=requantize.element,
            has_bias=self._layer.bias is not None,
            per_column=per_column,
            relu=self._layer.relu,
            waits=self._result_waits(tile),
            signals=self._sums_done(tile) + _RESULTS.filled,
        )

    def _float_results(self, tile: _Tile) -> Iterator[Instruction]:
        """The first pass takes the sums out of the accumulators, further ones work in place."""
        passes: list[dict[str, object]] = []
        if self._layer.bias is not None:
            passes.append({"op": VectorOp.ADD, "right": self._bias + tile.column * 4})
        if self._layer.relu:
            passes.append({"op": VectorOp.MAX, "constant": True})
        for number, what in enumerate(passes or [{"op": VectorOp.COPY}]):
            first, last = number == 0, number >= len(passes) - 1
            yield Vec(
                out=self._result(tile),
                out_stride=tile.columns * 4,
                left=self._acc(tile) if first else self._result(tile),
                left_stride=tile.columns * 4,
                rows=tile.rows,
                columns=tile.columns,
                element=Element.F32,
                left_space=Space.ACC if first else Space.SPAD,
                waits=self._result_waits(tile) if first else (),
                signals=(self._sums_done(tile) if first else ()) + (_RESULTS.filled if last else ()),
                **what,  # pyright: ignore[reportArgumentType]
            )

    def _store(self, tile: _Tile) -> Instruction:
        size = self._problem.result.bytes
        return DmaStore(
            dram=self._places.y + (tile.row * self._problem.n + tile.column) * size,
            spad=self._result(tile),
            rows=tile.rows,
            row_bytes=tile.columns * size,
            dram_stride=self._problem.n * size,
            spad_stride=tile.columns * size,
            waits=_RESULTS.filled,
            signals=_RESULTS.after_empty(tile.number, self._tiles.depth, len(self._grid)),
        )
