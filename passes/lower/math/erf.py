"""erf."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, math

from aiopt.passes.lower.math.builder import FloatBuilder
from aiopt.passes.lower.math.exp import exp_minus_one

_SATURATED = -3.95  # erf rounds to -1 from -3.833 down
# log(1 + erf(y)) / y - 1 for -3.95 <= y <= 0, minimax for erf: relative error 4.3e-9.
_POLYNOMIAL = (
    0.12837917,
    -0.63661957,
    0.102776304,
    0.01914782,
    -0.00016951497,
    -0.0016756977,
    -0.00063738285,
    -0.00011886959,
    -9.389291e-06,
)


def erf(x: ir.Value, build: FloatBuilder) -> ir.Value:
    """erf(x) to 1.82 ULP and monotone, never beyond -1 or 1; zeros keep their sign; NaN of NaN.

    1 + erf(y) = exp(y + y * p(y)) for y = -|x|, where p is smooth: a polynomial. Then erf(y) = exp(...) - 1 is exact to
    rounding where it is small, too.
    """
    y = build.at_least(arith.negf(math.absf(x)), _SATURATED)
    exponent = build.multiply_add(y, build.polynomial(y, _POLYNOMIAL), y)
    return math.copysign(exp_minus_one(exponent, build), x)
