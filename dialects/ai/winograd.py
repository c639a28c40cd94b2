"""Winograd's minimal filtering F(m, 3): m results of a filter of three taps from m + 2 products.

Y = A^T [(G g G^T) * (B^T d B)] A gives a tile of m x m pixels of the result from one of (m + 2) x (m + 2) pixels of the
input. The matrices follow from the points at which the polynomials behind it are evaluated, and infinity. Which points
decides about the error: with 0, +-1, +-2, which need the fewest operations, that of F(4, 3) is three times as large.
Source: Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray, Fast Algorithms for Convolutional Neural
Networks, CVPR 2016; for the points Barabasz et al., Error Analysis and Improving the Accuracy of Winograd Convolution
for Deep Neural Networks, TOMS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np

TAPS = 3
# 0, then pairs of opposite points: what both of a pair need is computed once. All have few bits, so that the matrices
# of the input and of the output are exact in f32.
POINTS = {2: (0.0, 1.0, -1.0), 4: (0.0, 0.6875, -0.6875, 1.375, -1.375)}
SIZES = tuple(POINTS)


@dataclass(frozen=True)
class Matrices:
    """output A^T [m, n], filter G [n, 3], input B^T [n, n], n = m + 2; the last point is infinity."""

    output: np.ndarray
    filter: np.ndarray
    input: np.ndarray


@cache
def matrices(size: int) -> Matrices:
    """The matrices of F(size, 3) in f64."""
    points, extent = POINTS[size], size + TAPS - 1
    output, filters, inputs = np.zeros((size, extent)), np.zeros((extent, TAPS)), np.zeros((extent, extent))
    for at, point in enumerate(points):
        others = [other for other in points if other != point]
        output[:, at] = [point**power for power in range(size)]
        filters[at] = [point**power / prod(point - other for other in others) for power in range(TAPS)]
        inputs[at, : extent - 1] = _with_roots(others)
    output[-1, -1] = filters[-1, -1] = 1
    inputs[-1] = _with_roots(points)
    return Matrices(output, filters, inputs)


def _with_roots(roots: tuple[float, ...] | list[float]) -> np.ndarray:
    """Coefficients of the polynomial with these roots, from that of x^0 up."""
    coefficients = np.ones(1)
    for root in roots:
        coefficients = np.convolve(coefficients, [-root, 1.0])
    return coefficients


def transform_filters(weight: np.ndarray, size: int) -> np.ndarray:
    """[O, C, 3, 3] to G g G^T, [O, C, m + 2, m + 2], computed in f64 and rounded once."""
    return _on_both_sides(matrices(size).filter, weight).astype(weight.dtype)


def restore_filters(transformed: np.ndarray, size: int) -> np.ndarray:
    """[O, C, 3, 3] again, up to the rounding of what was transformed; f64."""
    return _on_both_sides(np.linalg.pinv(matrices(size).filter), transformed)


def _on_both_sides(matrix: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """matrix @ filter @ matrix^T for each filter of [O, C, k, k], as one product of large matrices; f64."""
    rows, taps = matrix.shape
    flat = filters.reshape(-1, taps * taps).astype(np.float64) @ np.kron(matrix, matrix).T
    return flat.reshape(*filters.shape[:2], rows, rows)
