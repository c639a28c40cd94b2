"""Quantisation: between floats and the integers that stand for them."""

from __future__ import annotations

import numpy as np
from mlir import ir
from mlir.dialects import arith, math

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.lower.linalg.builder import Scalar, constant
from aiopt.passes.lower.linalg.elementwise import cast, elementwise
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.types import LOW_FLOATS, numpy_dtype


def quantized(quotient: Scalar, zero_point: Scalar, element: str) -> Scalar:
    """saturate(round(quotient) + zero_point) for a quotient in f32.

    It is limited before it becomes an integer, to what the zero point leaves of the range: beyond i32 that conversion
    has no result. A comparison with NaN is false, so NaN becomes the lowest integer.
    """
    limits, f32 = np.iinfo(numpy_dtype(element)), quotient.type
    shift = cast(zero_point, element, "i32")
    low, high = (
        arith.sitofp(f32, arith.subi(constant(int(end), shift.type), shift)) for end in (limits.min, limits.max)
    )
    steps = math.roundeven(quotient)
    steps = arith.select(arith.cmpf(arith.CmpFPredicate.OGT, steps, low), steps, low)
    steps = arith.select(arith.cmpf(arith.CmpFPredicate.OLT, steps, high), steps, high)
    return arith.trunci(zero_point.type, arith.addi(arith.fptosi(shift.type, steps), shift))


def _widened(x: Scalar) -> Scalar:
    """f16 and bf16 as f32; `contract`: what an op before it in the kernel rounded to them need not be (`computed`)."""
    f32 = ir.F32Type.get()
    return x if x.type == f32 else arith.extf(f32, x, fastmath=arith.FastMathFlags.contract)


@lowers(ai.QuantizeLinearOp)
def _lower_quantize_linear(op: ai.QuantizeLinearOp, x: Operand, scale: Operand, zero_point: Operand) -> ir.Value:
    out = type_of(op.results[0])

    def body(x: Scalar, scale: Scalar, zero_point: Scalar) -> Scalar:
        return quantized(arith.divf(_widened(x), _widened(scale)), zero_point, out.element)

    return elementwise([x, scale, zero_point], out, body)


@lowers(ai.DequantizeLinearOp)
def _lower_dequantize_linear(op: ai.DequantizeLinearOp, x: Operand, scale: Operand, zero_point: Operand) -> ir.Value:
    out, element = type_of(op.results[0]), x.type.element

    def body(x: Scalar, scale: Scalar, zero_point: Scalar) -> Scalar:
        steps = arith.subi(cast(x, element, "i32"), cast(zero_point, element, "i32"))
        product = arith.mulf(arith.sitofp(ir.F32Type.get(), steps), _widened(scale))
        if out.element not in LOW_FLOATS:
            return product
        return arith.truncf(scale.type, product, fastmath=arith.FastMathFlags.contract)

    return elementwise([x, scale, zero_point], out, body)
