"""pow with a constant exponent."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from mlir import ir
from mlir.dialects import arith, math

from aiopt.passes.lower.math.builder import FloatBuilder


def power(x: ir.Value, exponent: float, build: FloatBuilder) -> ir.Value | None:
    """x^exponent to 1.5 ULP with C's special values, for the exponents of _POWERS; None for another."""
    expand = _POWERS.get(exponent)
    return expand(x, build) if expand else None


def _itself(x: ir.Value, _: FloatBuilder) -> ir.Value:
    return x


def _square(x: ir.Value, _: FloatBuilder) -> ir.Value:
    return arith.mulf(x, x)


def _cube(x: ir.Value, _: FloatBuilder) -> ir.Value:
    return arith.mulf(arith.mulf(x, x), x)


def _reciprocal(x: ir.Value, build: FloatBuilder) -> ir.Value:
    return arith.divf(build.constant(1.0), x)


def _square_root(x: ir.Value, build: FloatBuilder) -> ir.Value:
    """C has pow(-0, 0.5) = 0 and pow(-inf, 0.5) = inf, unlike sqrt."""
    root = math.sqrt(arith.addf(x, build.constant(0.0)))
    lowest = arith.cmpf(arith.CmpFPredicate.OEQ, x, build.constant(-inf))
    return arith.select(lowest, build.constant(inf), root)


def _reciprocal_root(x: ir.Value, build: FloatBuilder) -> ir.Value:
    return _reciprocal(_square_root(x, build), build)


_POWERS: dict[float, Callable[[ir.Value, FloatBuilder], ir.Value]] = {
    1.0: _itself,
    2.0: _square,
    3.0: _cube,
    -1.0: _reciprocal,
    0.5: _square_root,
    -0.5: _reciprocal_root,
}
