"""tanh."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, math

from aiopt.passes.lower.math.builder import FloatBuilder
from aiopt.passes.lower.math.exp import exp_minus_one

_SATURATED = -10.0  # tanh rounds to -1 from -9.011 down


def tanh(x: ir.Value, build: FloatBuilder) -> ir.Value:
    """tanh(x) to 2.5 ULP and monotone, x itself where it is tiny, never beyond -1 or 1; NaN of NaN.

    tanh(y) = m / (m + 2) with m = exp(2y) - 1, for y = -|x|: there m + 2 does not cancel.
    """
    y = build.at_least(arith.negf(math.absf(x)), _SATURATED)
    m = exp_minus_one(arith.addf(y, y), build)
    return math.copysign(arith.divf(m, arith.addf(m, build.constant(2.0))), x)
