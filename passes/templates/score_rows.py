"""Softmax over rows of scores in a task's buffer, whole or a block of keys after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from mlir import ir
from mlir.dialects import arith, memref, vector

from aiopt.passes.lower.linalg.builder import constant
from aiopt.passes.lower.math.builder import FloatBuilder
from aiopt.passes.lower.math.exp import exp_up_to_one
from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Parameters
from aiopt.passes.templates.emit import LINE, Chunk, Index
from aiopt.passes.templates.reduce import Rows


@dataclass(frozen=True)
class ScoreRows:
    """Rows of scores of one tile, and for each row of the task what softmax has found of it so far.

    Scores become e^(score - largest); what they are divided by, their sum, is applied to the products. A row whose
    scores are all -inf has the sum 0, which makes NaN of it, as softmax does; a NaN makes the sum NaN.
    """

    scores: ir.Value
    width: int  # places of a row that scores are written to
    pitch: int  # places from one row to the next: an odd number of lines, so that rows share no cache set
    lanes: int  # of the vectors that rows are read in
    fma: bool
    rows: int
    sums: ir.Value
    largest: ir.Value | None  # None where a row is one block
    scales: ir.Value | None  # of this block, for what was summed before it

    @staticmethod
    def allocate(rows: int, width: int, tiles: int, numbers: Parameters, several: bool) -> ScoreRows:
        """rows of a tile, `width` places in each, tiles of the task; several: blocks of keys."""
        lines = -(-width // LINE)
        pitch = (lines + 1 - lines % 2) * LINE
        count = rows * tiles
        largest = emit.scratch(count) if several else None
        scales = emit.scratch(count) if several else None
        scores, sums = emit.scratch(rows * pitch), emit.scratch(count)
        return ScoreRows(scores, width, pitch, numbers["lanes"], bool(numbers["fma"]), rows, sums, largest, scales)

    def store(self, value: ir.Value, row: int, column: Index, chunk: Chunk) -> None:
        """Write a vector of scores, -inf to the lanes that are no keys."""
        if chunk.valid < chunk.lanes:
            flags = ir.DenseElementsAttr.get(
                [ir.BoolAttr.get(lane < chunk.valid) for lane in range(chunk.lanes)],
                ir.VectorType.get([chunk.lanes], ir.IntegerType.get_signless(1)),
            )
            valid = arith.ConstantOp(flags.type, flags).result  # pyright: ignore[reportArgumentType]
            value = arith.select(valid, value, constant(-inf, value.type))
        emit.store(value, self.scores, emit.add(row * self.pitch, column), chunk.full)

    def elements(self, count: int) -> Rows:
        """The rows as the left operand of a product."""
        return Rows(self.scores, 0, [row * self.pitch for row in range(count)])

    def softmax(self, tile: Index, rows: int, count: int, first: ir.Value | bool) -> None:
        """Of the rows of a tile, `count` scores in each: the first block of keys, or one after it."""
        wide = -(-count // self.lanes) * self.lanes

        def row(number: Index, _: list[ir.Value]) -> list[ir.Value]:
            self._row(emit.mul(number, self.pitch), emit.add(emit.mul(tile, self.rows), number), wide, first)
            return []

        emit.for_loop(0, rows, 1, [], row)

    def _row(self, start: Index, place: Index, wide: int, first: ir.Value | bool) -> None:
        chunk = Chunk(0, self.lanes, self.lanes)

        def find(at: Index, found: list[ir.Value]) -> list[ir.Value]:
            return [_greater(emit.load(self.scores, emit.add(start, at), chunk), found[0])]

        lowest = constant(-inf, chunk.kind)
        peak = _fold(emit.for_loop(0, wide, self.lanes, [lowest], find)[0], _greater)
        scale = None
        if self.largest is not None and self.scales is not None:
            bottom = constant(-inf, peak.type)
            before = self._before(first, self.largest, place, bottom)
            peak = _greater(peak, before)
            memref.StoreOp(peak, self.largest, [emit.index(place)])
            scale = exp_up_to_one(arith.subf(before, _finite(peak)), FloatBuilder(peak.type, self.fma))
            memref.StoreOp(scale, self.scales, [emit.index(place)])
        base, build = vector.BroadcastOp(chunk.kind, _finite(peak)).result, FloatBuilder(chunk.kind, self.fma)

        def power(at: Index, sums: list[ir.Value]) -> list[ir.Value]:
            position = emit.add(start, at)
            value = exp_up_to_one(arith.subf(emit.load(self.scores, position, chunk), base), build)
            emit.store(value, self.scores, position, chunk)
            return [arith.addf(sums[0], value)]

        total = _fold(emit.for_loop(0, wide, self.lanes, [emit.zeros(chunk)], power)[0], arith.addf)
        if scale is not None:
            zero = constant(0.0, total.type)
            total = arith.addf(arith.mulf(self._before(first, self.sums, place, zero), scale), total)
        memref.StoreOp(total, self.sums, [emit.index(place)])

    def _before(self, first: ir.Value | bool, buffer: ir.Value, place: Index, start: ir.Value) -> ir.Value:
        """What a buffer has from the block before; `start` in the first one."""
        if isinstance(first, bool):
            return start if first else memref.LoadOp(buffer, [emit.index(place)]).result
        load: Callable[[], list[ir.Value]] = lambda: [memref.LoadOp(buffer, [emit.index(place)]).result]  # noqa: E731
        return emit.branch(first, lambda: [start], load, [start.type])[0]

    def rescaled(self, value: ir.Value, row: int, tile: Index, start: Index) -> ir.Value:
        """What was summed before this block, relative to the largest score now."""
        if self.scales is None or start == 0:
            return value
        return arith.mulf(value, self._of_row(self.scales, row, tile, value.type))

    def divided(self, value: ir.Value, row: int, tile: Index, last: ir.Value | bool) -> ir.Value:
        """The products over the sum of the row, after the last block."""
        if last is False:
            return value
        inverse = arith.divf(constant(1.0, value.type), self._of_row(self.sums, row, tile, value.type))
        if isinstance(last, ir.Value):
            inverse = arith.select(last, inverse, constant(1.0, value.type))
        return arith.mulf(value, inverse)

    def _of_row(self, buffer: ir.Value, row: int, tile: Index, kind: ir.Type) -> ir.Value:
        place = emit.add(emit.mul(tile, self.rows), row)
        return emit.load_scalar(buffer, place, kind)  # pyright: ignore[reportArgumentType]


def _greater(x: ir.Value, y: ir.Value) -> ir.Value:
    """The greater one, y if x is NaN: softmax of a row with a NaN is NaN by its sum."""
    return arith.select(arith.cmpf(arith.CmpFPredicate.OGT, x, y), x, y)


def _finite(peak: ir.Value) -> ir.Value:
    """0 in place of -inf: e^(-inf - 0) is 0, where -inf less itself would be NaN before all keys are seen."""
    lowest, zero = constant(-inf, peak.type), constant(0.0, peak.type)
    return arith.select(arith.cmpf(arith.CmpFPredicate.OEQ, peak, lowest), zero, peak)


def _fold(value: ir.Value, combine: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    """One number of all lanes, halves with halves."""
    (lanes,) = value.type.shape  # pyright: ignore[reportAttributeAccessIssue]
    while lanes > 1:
        lanes //= 2
        low, high = (vector.ShuffleOp(value, value, list(range(at, at + lanes))).result for at in (0, lanes))
        value = combine(low, high)
    return vector.ExtractOp(value, [], [0]).result
