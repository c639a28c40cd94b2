"""log."""

from __future__ import annotations

from math import inf, nan

from mlir import ir
from mlir.dialects import arith
from mlir.dialects.arith import CmpFPredicate

from aiopt.passes.lower.math.builder import FloatBuilder

_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4  # 9 bits and the rest: n * high is exact for |n| < 2^15
_SMALLEST_NORMAL = 2.0**-126
_SQRT_HALF_BITS = 0x3F3504F3
# (log(1 + f) - f + f^2 / 2) / f^3 for sqrt(1/2) - 1 <= f <= sqrt(2) - 1, minimax: relative error of log 5.9e-9.
_POLYNOMIAL = (
    0.33333331,
    -0.25000823,
    0.20001249,
    -0.16623314,
    0.14201321,
    -0.13160263,
    0.12764411,
    -0.07637507,
)


def log(x: ir.Value, build: FloatBuilder) -> ir.Value:
    """ln(x) to 0.86 ULP, of denormals too, and monotone; -inf of both zeros, inf of inf, NaN of NaN and below 0.

    log(x) = n * ln 2 + log(1 + f) with x = 2^n * (1 + f) and 1 + f between sqrt(1/2) and sqrt(2), so that n is 0 where
    the logarithm is small; ln 2 in two parts (Cody and Waite).
    """
    n, f = _split(x, build)
    square = arith.mulf(f, f)
    tail = arith.mulf(arith.mulf(square, f), build.polynomial(f, _POLYNOMIAL))
    tail = build.multiply_add(n, build.constant(_LN2_LOW), tail)
    tail = build.multiply_add(square, build.constant(-0.5), tail)
    result = build.multiply_add(n, build.constant(_LN2_HIGH), arith.addf(f, tail))
    return _choose_special(x, result, build)


def _split(x: ir.Value, build: FloatBuilder) -> tuple[ir.Value, ir.Value]:
    """n as a float, and f."""
    zero = build.constant(0.0)
    denormal = arith.cmpf(CmpFPredicate.OLT, x, build.constant(_SMALLEST_NORMAL))
    x = arith.select(denormal, arith.mulf(x, build.constant(2.0**23)), x)
    correction = arith.select(denormal, build.constant(-23.0), zero)
    bits = build.to_bits(x)
    offset = arith.subi(bits, build.bits_constant(_SQRT_HALF_BITS))
    n = arith.sitofp(build.kind, arith.shrsi(offset, build.bits_constant(23)))
    exponent = arith.andi(offset, build.bits_constant(0xFF800000))
    mantissa = build.from_bits(arith.subi(bits, exponent))
    return arith.addf(n, correction), arith.subf(mantissa, build.constant(1.0))


def _choose_special(x: ir.Value, result: ir.Value, build: FloatBuilder) -> ir.Value:
    """The result where x is positive and finite."""
    zero = build.constant(0.0)
    result = arith.select(arith.cmpf(CmpFPredicate.OLT, x, build.constant(inf)), result, x)
    is_zero = arith.cmpf(CmpFPredicate.OEQ, x, zero)
    undefined = arith.select(is_zero, build.constant(-inf), build.constant(nan))
    return arith.select(arith.cmpf(CmpFPredicate.OLE, x, zero), undefined, result)
