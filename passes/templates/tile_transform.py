"""Winograd's transforms of one tile, in vectors of channels: B^T d B before the products, A^T m A after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from mlir import ir
from mlir.dialects import arith

from aiopt.dialects.ai.winograd import matrices
from aiopt.passes.lower.linalg.builder import constant
from aiopt.passes.templates import emit
from aiopt.passes.templates.emit import Chunk, Index

Vectors = list[ir.Value]
Load = Callable[[Index, Index], ir.Value]  # of a row and a column
Store = Callable[[Index, Index, ir.Value], None]
_Step = Callable[[Vectors], Vectors]


@dataclass(frozen=True)
class Transform:
    """Transforms tiles of size x size pixels of the result, a vector at a time.

    half: a flat buffer for the (size + 2) x (size + 2) vectors of a tile of which only the columns are transformed.
    They would not fit in registers, and loops over columns and rows are a sixth of the code.
    """

    size: int
    half: ir.Value
    lanes: int
    fma: bool

    def input(self, load: Load, store: Store) -> None:
        """B^T d B of a tile of (size + 2) x (size + 2) pixels."""
        matrix = matrices(self.size).input
        self._two_ways(matrix.shape, load, store, lambda values: _mirrored_rows(matrix, values, self.fma))

    def output(self, load: Load, store: Store) -> None:
        """A^T m A, a tile of size x size pixels of the result."""
        matrix = matrices(self.size).output
        self._two_ways(matrix.shape, load, store, lambda values: _mirrored_columns(matrix, values, self.fma))

    def _two_ways(self, shape: tuple[int, ...], load: Load, store: Store, step: _Step) -> None:
        rows, extent = shape
        chunk = Chunk(0, self.lanes, self.lanes)

        def column(at: Index, _: Vectors) -> Vectors:
            for row, value in enumerate(step([load(row, at) for row in range(extent)])):
                emit.store(value, self.half, self._place(row, at, extent), chunk)
            return []

        def row(at: Index, _: Vectors) -> Vectors:
            values = [emit.load(self.half, self._place(at, column, extent), chunk) for column in range(extent)]
            for column, value in enumerate(step(values)):
                store(at, column, value)
            return []

        emit.for_loop(0, extent, 1, [], column)
        emit.for_loop(0, rows, 1, [], row)

    def _place(self, row: Index, column: Index, extent: int) -> Index:
        return emit.dot([row, column], [extent * self.lanes, self.lanes])


def _mirrored_rows(matrix: np.ndarray, values: Vectors, fma: bool) -> Vectors:
    """matrix @ values. The rows of a pair of opposite points differ in the sign of odd columns."""
    results = [_sum(matrix[0], values, fma)]
    for row in range(1, len(matrix) - 1, 2):
        coefficients = matrix[row]
        factor = coefficients[1::2][np.flatnonzero(coefficients[1::2])[-1]]
        even = _sum(coefficients[::2], values[::2], fma)
        odd = _sum(coefficients[1::2] / factor, values[1::2], fma)
        results += [_scaled_sum(even, factor, odd, fma), _scaled_sum(even, -factor, odd, fma)]
    return [*results, _sum(matrix[-1], values, fma)]


def _mirrored_columns(matrix: np.ndarray, values: Vectors, fma: bool) -> Vectors:
    """matrix @ values. The columns of a pair of opposite points differ in the sign of odd rows."""
    first, *paired, last = values
    pairs = list(zip(paired[::2], paired[1::2], strict=True))
    sums = [arith.addf(a, b) for a, b in pairs]
    differences = [arith.subf(a, b) for a, b in pairs]
    results = []
    for number, row in enumerate(matrix):
        inner = differences if number % 2 else sums
        results.append(_sum([row[0], *row[1:-1:2], row[-1]], [first, *inner, last], fma))
    return results


def _sum(coefficients: Sequence[float] | np.ndarray, values: Vectors, fma: bool) -> ir.Value:
    """The sum of coefficient * value, which starts with those that need no product."""
    terms = [(float(c), v) for c, v in zip(coefficients, values, strict=True) if c]
    (factor, value), *rest = sorted(terms, key=lambda term: term[0] != 1)
    total = value if factor == 1 else arith.mulf(value, constant(factor, value.type))
    for factor, value in rest:
        total = _scaled_sum(total, factor, value, fma)
    return total


def _scaled_sum(total: ir.Value, factor: float, value: ir.Value, fma: bool) -> ir.Value:
    """total + factor * value."""
    if abs(factor) == 1:
        return arith.addf(total, value) if factor > 0 else arith.subf(total, value)
    return emit.multiply_add(value, constant(factor, value.type), total, fma)


def instructions(size: int) -> tuple[int, int]:
    """Vector instructions for a tile of the input and one of the result, loads and stores among them (an estimate)."""
    extent = size + 2
    step = 4 if size == 2 else 13
    return 2 * extent * step + 4 * extent**2, (extent + size) * step + (2 * extent + 3 * size) * size + extent**2
