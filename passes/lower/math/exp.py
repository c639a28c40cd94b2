"""exp, and e^x - 1 for functions built on it."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith

from aiopt.passes.lower.math.builder import FloatBuilder

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4  # 9 bits and the rest: n * high is exact for |n| < 2^15
_LOWEST, _HIGHEST = -104.0, 89.0  # exp is 0 below and inf above
_TINY = -88.0  # n is -127 here, and 2^n has the bits of 0
_BIAS = 127
# Adding 1.5 * 2^23 to a float rounds it to a whole number, which is then in the low bits of the sum.
_ROUNDER = float(3 << 22)
# (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2, minimax: relative error of exp 3.2e-9 by the first, of exp - 1 1.4e-8 by
# the second.
_EXP = (0.49999994, 0.16666521, 0.04166829, 0.008368704, 0.0013818939)
_EXP_MINUS_ONE = (0.49999997, 0.16666545, 0.04166746, 0.008366432, 0.0013868435)


def exp(x: ir.Value, build: FloatBuilder) -> ir.Value:
    """e^x to 1.02 ULP, denormal results too, and monotone; 0 below -103.97, inf above 88.72, NaN of NaN.

    exp(x) = 2^n * exp(r) with n = round(x / ln 2), r = x - n * ln 2 in two parts (Cody and Waite) and a polynomial for
    exp(r). 2^n is multiplied in two halves, since n goes from -150 to 128 and exponents from -126 to 127.
    """
    sum_, r = _reduce(build.at_least(build.at_most(x, _HIGHEST), _LOWEST), 2 * _BIAS, build)
    mantissa = arith.addf(_exp_minus_one_near_zero(r, _EXP, build), build.constant(1.0))
    half, rest = _halves_of_power(sum_, build)
    return arith.mulf(arith.mulf(mantissa, half), rest)


def exp_up_to_one(x: ir.Value, build: FloatBuilder) -> ir.Value:
    """e^x for x <= 0 to 0.9 ULP, but 0 where it is less than 0.71 * 2^-126; NaN of NaN.

    As `exp`, without what only large results and the smallest denormals need, and by Horner's rule to the end.
    """
    sum_, r = _reduce(build.at_least(x, _TINY), _BIAS, build)
    power = build.from_bits(arith.shli(build.to_bits(sum_), build.bits_constant(23)))
    return arith.mulf(build.polynomial(r, (1.0, 1.0, *_EXP)), power)


def exp_minus_one(x: ir.Value, build: FloatBuilder) -> ir.Value:
    """e^x - 1 for -87 <= x <= 0 to 2 ULP, x itself where it is tiny; NaN of NaN.

    2^n * exp(r) - 1 = 2^n * (exp(r) - 1) + (2^n - 1), with n and r as in `exp`.
    """
    sum_, r = _reduce(x, _BIAS, build)
    power = build.from_bits(arith.shli(build.to_bits(sum_), build.bits_constant(23)))
    tail = _exp_minus_one_near_zero(r, _EXP_MINUS_ONE, build)
    return build.multiply_add(power, tail, arith.subf(power, build.constant(1.0)))


def _reduce(x: ir.Value, bias: int, build: FloatBuilder) -> tuple[ir.Value, ir.Value]:
    """A float with n + bias in its low bits, and r."""
    rounder = build.constant(_ROUNDER + bias)
    sum_ = build.multiply_add(x, build.constant(_LOG2_E), rounder)
    n = arith.subf(sum_, rounder)
    r = build.multiply_add(n, build.constant(-_LN2_HIGH), x)
    return sum_, build.multiply_add(n, build.constant(-_LN2_LOW), r)


def _exp_minus_one_near_zero(r: ir.Value, polynomial: Sequence[float], build: FloatBuilder) -> ir.Value:
    return build.multiply_add(arith.mulf(r, r), build.polynomial(r, polynomial), r)


def _halves_of_power(sum_: ir.Value, build: FloatBuilder) -> tuple[ir.Value, ir.Value]:
    """2^floor(n/2) and 2^ceil(n/2), where n + 2 * bias is in the low bits of `sum_`; its high bits are shifted out."""
    bits = build.to_bits(sum_)
    shifted = arith.shli(bits, build.bits_constant(22))  # the exponent field is floor(n/2) + bias
    half = arith.andi(shifted, build.bits_constant(0xFF800000))
    rest = arith.subi(arith.shli(bits, build.bits_constant(23)), half)
    return build.from_bits(half), build.from_bits(rest)
