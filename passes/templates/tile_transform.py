"""Winograd's transforms of one tile, in vectors of channels: B^T d B before the products, A^T m A after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from mlir import ir
from mlir.dialects import arith

from aiopt.dialects.ai.winograd import matrices
from aiopt.passes.lower.linalg.builder import constant
from aiopt.passes.templates import emit

Vectors = list[ir.Value]
Place = tuple[int, int]  # row and column in a tile
_Step = Callable[[Vectors], Vectors]


def transform_input(size: int, load: Callable[[Place], ir.Value], store: Callable[[Place, ir.Value], None], fma: bool):
    """B^T d B of a tile of (size + 2) x (size + 2) pixels, loaded column by column, stored row by row."""
    matrix = matrices(size).input
    _two_ways(matrix.shape, load, store, lambda values: _mirrored_rows(matrix, values, fma))


def transform_output(size: int, load: Callable[[Place], ir.Value], store: Callable[[Place, ir.Value], None], fma: bool):
    """A^T m A, a tile of size x size pixels of the result."""
    matrix = matrices(size).output
    _two_ways(matrix.shape, load, store, lambda values: _mirrored_columns(matrix, values, fma))


def _two_ways(
    shape: tuple[int, ...],
    load: Callable[[Place], ir.Value],
    store: Callable[[Place, ir.Value], None],
    step: _Step,
) -> None:
    rows, extent = shape
    half = [step([load((row, column)) for row in range(extent)]) for column in range(extent)]
    for row in range(rows):
        for column, value in enumerate(step([values[row] for values in half])):
            store((row, column), value)


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


def operations(size: int) -> tuple[int, int]:
    """Vector instructions for a tile of the input and of the result, loads and stores among them (an estimate)."""
    extent = size + 2
    places = len(list(product(range(extent), range(extent))))
    step = 4 if size == 2 else 13
    return 2 * extent * step + 4 * places, (extent + size) * step + 3 * places + 3 * size * size
