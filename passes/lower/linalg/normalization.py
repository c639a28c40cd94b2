"""Layer normalisation as two folds over rows and one pass over their elements."""

from __future__ import annotations

from math import prod

from mlir import ir
from mlir.dialects import arith, math

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.lower.linalg.builder import Scalar, constant
from aiopt.passes.lower.linalg.elementwise import cast, elementwise, scaled
from aiopt.passes.lower.linalg.reduction import sum_over
from aiopt.passes.lower.linalg.rules import Operand, Squeezed, lowers
from aiopt.support.types import LOW_FLOATS, TensorType


@lowers(ai.LayerNormOp)
def _lower_layer_norm(op: ai.LayerNormOp, x: Operand, scale: Operand, bias: Operand | None) -> ir.Value:
    """(x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias, in f32 for f16 and bf16."""
    kind, axis, epsilon = type_of(op.results[0]), op.axis.value, op.epsilon.value
    wide = TensorType(kind.shape, "f32" if kind.element in LOW_FLOATS else kind.element)
    axes = list(range(axis, kind.rank))
    rows = wide.with_shape(*(1 if a in axes else n for a, n in enumerate(kind.shape)))
    count = prod(kind.shape[axis:])
    value = x.value if wide == kind else scaled(x.value, wide, lambda v: cast(v, kind.element, wide.element))

    def mean(of: ir.Value) -> Operand:
        total = sum_over(of, wide, axes, lambda v: arith.divf(v, constant(count, v.type)))
        return Operand(rows, Squeezed(total, tuple(axes)))

    centred = elementwise([Operand(wide, value), mean(value)], wide, arith.subf)
    squares = elementwise([Operand(wide, centred)], wide, lambda v: arith.mulf(v, v))

    def body(v: Scalar, variance: Scalar, *parameters: Scalar) -> Scalar:
        deviation = math.sqrt(arith.addf(variance, constant(epsilon, v.type)))
        factor, *shift = (cast(p, kind.element, wide.element) for p in parameters)
        out = arith.mulf(arith.divf(v, deviation), factor)
        return cast(arith.addf(out, shift[0]) if shift else out, wide.element, kind.element)

    parameters = [scale] if bias is None else [scale, bias]
    return elementwise([Operand(wide, centred), mean(squares), *parameters], kind, body)
