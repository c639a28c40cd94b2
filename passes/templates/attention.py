"""Attention: softmax(queries x keys) x values, a few rows of scores at a time, which never leave the cache.

A task is a run of queries of one head. It turns the keys of a block into panels once; then each tile of queries is
multiplied with all of them, its scores go through softmax, and the result times the values. Where there are several
blocks of keys, the largest score and the sum of each row are carried along, and what was summed is scaled.
Source: Milakov and Gimelshein, Online normalizer calculation for softmax, 2018; Dao et al., FlashAttention, 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.templates import emit
from aiopt.passes.templates.access import Access, is_turned
from aiopt.passes.templates.base import Facts, Parameters, Template, no_rival
from aiopt.passes.templates.blocking import Block, register_blocks, split, step_cycles
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.epilogue import Registers, Result, Tile, each_axis
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.reduce import Arithmetic, Columns, Rows, reduce_products
from aiopt.passes.templates.score_rows import ScoreRows
from aiopt.passes.templates.turn import Lines, copy_columns, turn_columns
from aiopt.passes.templates.view import Places, View
from aiopt.support.errors import CompileError

_TASKS_PER_CORE = 4
_LONG = 1024  # keys that make up one block: of more, the scores of a tile would not stay in the L1 cache
_BLOCK = 512  # keys of a block where there are more
_REUSE = 4  # tiles of a task from which on values are copied: rows of a head lie far apart


@dataclass(frozen=True)
class _Shape:
    """queries [*batch, rows, depth] x keys [*batch, depth, keys] and softmax x values [*batch, keys, columns]."""

    batch: tuple[int, ...]
    rows: int
    depth: int
    keys: int
    columns: int


def _matches(kernel: Contraction) -> bool:
    root, scores = kernel.root, kernel.scores
    if scores is None or not isinstance(root, ai.MatMulOp) or root.pack is not None:
        return False
    return scores.out.shape[:-2] == kernel.out.shape[:-2] and not is_turned(kernel.access(root.rhs))


def _products(kernel: Contraction) -> tuple[Contraction, ai.MatMulOp, ai.MatMulOp]:
    """The first product with what is done to scores, and the roots of both."""
    assert kernel.scores is not None, "the template matches no other"
    first, second = kernel.scores.root, kernel.root
    assert isinstance(first, ai.MatMulOp), "scores are read from nothing else"
    assert isinstance(second, ai.MatMulOp), "the template matches no other"
    return kernel.scores, first, second


def _shape(kernel: Contraction) -> _Shape:
    scores, first, _ = _products(kernel)
    *batch, rows, columns = kernel.out.shape
    return _Shape(tuple(batch), rows, type_of(first.lhs).shape[-1], scores.out.shape[-1], columns)


def _parameters(kernel: Contraction, facts: Facts) -> Parameters:
    shape = _shape(kernel)
    keys = shape.keys if shape.keys <= _LONG or kernel.has_low_result else _BLOCK
    best = min(_tiles(shape, facts, keys), key=lambda found: found[0])
    _, mr, score_vectors, vectors = best
    tiles = sum(times for _, times in split(shape.rows, mr))
    parts = min(tiles, max(1, -(-_TASKS_PER_CORE * facts.cores // prod(shape.batch))))
    each = -(-tiles // parts)
    return {
        "lanes": facts.lanes,
        "fma": int(facts.fma),
        "mr": mr,
        "nr": score_vectors * facts.lanes,
        "columns": vectors * facts.lanes,
        "keys": keys,
        "tiles": each,
        "copy": int(each >= _REUSE),
    }


def _tiles(shape: _Shape, facts: Facts, keys: int) -> list[tuple[float, int, int, int]]:
    """Ways to fill registers: (cycles of all products of a head, rows, vectors of scores, vectors of the result)."""
    blocks = list(register_blocks(facts.registers))
    found = []
    for mr in sorted({block.rows for block in blocks}):
        parts = split(shape.rows, mr)
        widths = [block.vectors for block in blocks if block.rows == mr]

        def cycles(count: int, vectors: int, parts: list[tuple[int, int]] = parts) -> float:
            full, rest = divmod(-(-count // facts.lanes), vectors)
            of_rows = [
                full * step_cycles(Block(size, vectors)) + (step_cycles(Block(size, rest)) if rest else 0)
                for size, _ in parts
            ]
            return sum(cost * times for cost, (_, times) in zip(of_rows, parts, strict=True))

        scores = min(widths, key=lambda vectors: cycles(keys, vectors))
        result = min(widths, key=lambda vectors: cycles(shape.columns, vectors))
        total = shape.depth * cycles(keys, scores) + keys * cycles(shape.columns, result)
        found.append((total, mr, scores, result))
    return found


def _ranges(kernel: Contraction, facts: Facts) -> dict[str, Sequence[int]]:
    shape, blocks = _shape(kernel), list(register_blocks(facts.registers))
    widths = sorted({block.vectors * facts.lanes for block in blocks})
    return {
        "mr": sorted({block.rows for block in blocks}),
        "nr": widths,
        "columns": widths,
        "keys": [shape.keys]
        if kernel.has_low_result
        else [*(size for size in (32, 64, 128, 256, 512, 1024) if size < shape.keys), shape.keys],
        "tiles": range(1, shape.rows + 1),
        "copy": (0, 1),
    }


@dataclass(frozen=True)
class _Operand:
    """An operand as the loops read it, and where its elements are."""

    view: View
    access: Access

    @staticmethod
    def of(kernel: Contraction, value: ir.Value, places: Places) -> _Operand:
        return _Operand(places[value], kernel.access(value))

    @property
    def buffer(self) -> ir.Value:
        return self.view.buffer

    @property
    def row(self) -> int:
        return self.access.strides[-2]

    @property
    def column(self) -> int:
        return self.access.strides[-1]

    def matrix(self, batch: tuple[Index, ...]) -> Index:
        """Where the matrix of a head begins."""
        return emit.add(self.view.base, emit.dot(batch, self.access.lead_strides(len(batch))))


@dataclass(frozen=True)
class _Emitter:
    shape: _Shape
    numbers: Parameters
    scores: Result
    result: Result
    queries: _Operand
    keys: _Operand
    values: _Operand

    @property
    def runs(self) -> list[tuple[int, int]]:
        """Tiles of queries: (rows, how many), larger ones first."""
        return split(self.shape.rows, self.numbers["mr"])

    @property
    def arithmetic(self) -> Arithmetic:
        return Arithmetic(bool(self.numbers["fma"]), pairs=False)

    def task(self, *indices: ir.Value) -> None:
        *batch, part = indices
        shape, each, nr = self.shape, self.numbers["tiles"], self.numbers["nr"]
        block = min(self.numbers["keys"], shape.keys)
        rows = ScoreRows.allocate(self.runs[0][0], -(-block // nr) * nr, each, self.numbers, block < shape.keys)
        is_turned_over = is_turned(self.keys.access)
        keys = emit.scratch(rows.width * shape.depth) if is_turned_over else None
        copied = -(-shape.columns // self.numbers["columns"]) * self.numbers["columns"]
        values = emit.scratch(block * copied) if self.numbers["copy"] else None
        head = _Head(self, tuple(batch), emit.mul(part, each), rows, keys, values)
        whole = shape.keys - shape.keys % block

        def step(start: Index, _: list[ir.Value]) -> list[ir.Value]:
            head.block(start, block)
            return []

        emit.for_loop(0, whole, block, [], step)
        if whole < shape.keys:
            head.block(whole, shape.keys - whole)


@dataclass(frozen=True)
class _Head:
    """A task: tiles of queries from `first` on, and its buffers."""

    emitter: _Emitter
    batch: tuple[Index, ...]
    first: Index  # tile
    rows: ScoreRows
    panels: ir.Value | None  # keys of a block, turned
    copied: ir.Value | None  # values of a block

    def block(self, start: Index, count: int) -> None:
        """All tiles of the task times `count` keys from `start` on."""
        emitter, numbers = self.emitter, self.emitter.numbers
        shape, nr, lanes = emitter.shape, numbers["nr"], numbers["lanes"]
        self._each_panel(count, nr, lambda column, width: self._turn(start, column, width))
        if self.copied is not None:
            wide, values, copied = numbers["columns"], emitter.values, self.copied
            at = emit.add(values.matrix(self.batch), emit.mul(start, values.row))

            def copy(column: Index, width: int) -> None:
                source = Lines(values.buffer, emit.add(at, column), values.row, width)
                copy_columns(source, count, copied, emit.mul(column, count), wide, lanes)

            self._each_panel(shape.columns, wide, copy)
        last, before, row = emit.add(self.first, numbers["tiles"]), 0, 0
        for size, times in emitter.runs:

            def tile(number: Index, _: list[ir.Value], size=size, base=row - before * size) -> list[ir.Value]:
                self._tile(emit.add(emit.mul(number, size), base), size, number, start, count)
                return []

            begin, end = emit.maximum(self.first, before), emit.minimum(last, before + times)
            emit.for_loop(begin, end, 1, [], tile)
            before, row = before + times, row + size * times

    def _each_panel(self, count: int, width: int, body: Callable[[Index, int], None]) -> None:
        """Go through columns a panel at a time; the last one may be narrower."""
        whole = count - count % width

        def panel(column: Index, _: list[ir.Value]) -> list[ir.Value]:
            body(column, width)
            return []

        emit.for_loop(0, whole, width, [], panel)
        if whole < count:
            body(whole, count - whole)

    def _turn(self, start: Index, column: Index, width: int) -> None:
        if self.panels is None:
            return
        keys, depth = self.emitter.keys, self.emitter.shape.depth
        at = emit.add(keys.matrix(self.batch), emit.mul(emit.add(start, column), keys.column))
        source = Lines(keys.buffer, at, keys.column, width)
        numbers = self.emitter.numbers
        turn_columns(source, depth, self.panels, emit.mul(column, depth), numbers["nr"], numbers["lanes"])

    def _tile(self, row: Index, size: int, number: Index, start: Index, count: int) -> None:
        emitter = self.emitter
        place = emit.add(number, emit.mul(self.first, -1))
        self._each_panel(
            count, emitter.numbers["nr"], lambda column, width: self._score(row, size, start, column, width)
        )
        self.rows.softmax(place, size, count, emit.equal(start, 0))
        self._each_panel(
            emitter.shape.columns,
            emitter.numbers["columns"],
            lambda column, width: self._sum(row, size, place, start, count, column, width),
        )

    def _score(self, row: Index, size: int, start: Index, column: Index, width: int) -> None:
        """The scores of a tile of queries and a panel of keys, to the rows of scores."""
        emitter = self.emitter
        queries, keys, depth = emitter.queries, emitter.keys, emitter.shape.depth
        chunks = emit.chunks(width, emitter.numbers["lanes"])
        tile = Tile(self.batch, row, emit.add(start, column), size, chunks)
        at = emit.add(queries.matrix(self.batch), emit.mul(row, queries.row))
        left = Rows(queries.buffer, at, [i * queries.row for i in range(size)], queries.column)
        if self.panels is not None:
            right = Columns(self.panels, emit.mul(column, depth), emitter.numbers["nr"], True)
        else:
            place = emit.mul(emit.add(start, column), keys.column)
            right = Columns(keys.buffer, emit.add(keys.matrix(self.batch), place), keys.row, False)
        sums = reduce_products(
            tile, range(size), emitter.scores.begin(tile, True), depth, left, right, emitter.arithmetic
        )
        for value, (i, chunk) in zip(emitter.scores.values(tile, sums), tile.cells(), strict=True):
            self.rows.store(value, i, column, chunk)

    def _sum(self, row: Index, size: int, place: Index, start: Index, count: int, column: Index, width: int) -> None:
        """Columns of the result: what comes of these keys, added to what came of those before."""
        emitter = self.emitter
        shape, values, wide = emitter.shape, emitter.values, emitter.numbers["columns"]
        tile = Tile(self.batch, row, column, size, emit.chunks(width, emitter.numbers["lanes"]))
        if self.copied is not None:
            right = Columns(self.copied, emit.mul(column, count), wide, True)
        else:
            at = emit.add(values.matrix(self.batch), emit.mul(start, values.row))
            right = Columns(values.buffer, emit.add(at, column), values.row, False)
        is_last: ir.Value | bool = emit.equal(start, shape.keys - count)
        sums: Registers = emitter.result.begin(tile, emit.equal(start, 0))
        cells = tile.cells()
        sums = [self.rows.rescaled(value, i, place, start) for value, (i, _) in zip(sums, cells, strict=True)]
        sums = reduce_products(tile, range(size), sums, count, self.rows.elements(size), right, emitter.arithmetic)
        sums = [self.rows.divided(value, i, place, is_last) for value, (i, _) in zip(sums, cells, strict=True)]
        emitter.result.end(tile, sums, is_last)


def _emit(kernel: Contraction, parameters: Parameters, places: Places) -> None:
    shape = _shape(kernel)
    if kernel.has_low_result and parameters["keys"] < shape.keys:
        raise CompileError(
            f"the template 'attention' keeps sums in a {type_of(kernel.result)} result: keys must be {shape.keys}"
        )
    inner, first, second = _products(kernel)
    axes = each_axis(kernel.out.rank)
    emitter = _Emitter(
        shape,
        parameters,
        Result.of(inner, places, None, axes),
        Result.of(kernel, places, None, axes),
        _Operand.of(inner, first.lhs, places),
        _Operand.of(inner, first.rhs, places),
        _Operand.of(kernel, second.rhs, places),
    )
    tiles = sum(times for _, times in emitter.runs)
    emit.forall([*shape.batch, -(-tiles // parameters["tiles"])], emitter.task)


TEMPLATE = Template(
    "attention",
    ("lanes", "fma", "mr", "nr", "columns", "keys", "tiles", "copy"),
    _matches,
    no_rival,
    _parameters,
    _ranges,
    _emit,
)
