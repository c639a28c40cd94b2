"""Between real numbers and the integers that stand for them."""

import numpy as np

from aiopt.dialects.ai.checks import check_broadcasts_to, check_same_element
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import quiet
from aiopt.dialects.constraints import NarrowTensor, QuantizedTensor, ScaleTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType


def quantized(quotient: np.ndarray, zero_point: np.ndarray) -> np.ndarray:
    """saturate(round(quotient) + zero_point) in the type of zero_point; halves to even, NaN to the lowest integer."""
    limits, shift = np.iinfo(zero_point.dtype), zero_point.astype(np.float32)
    low, high = np.float32(limits.min) - shift, np.float32(limits.max) - shift
    steps = np.rint(quotient)
    steps = np.minimum(np.where(steps > low, steps, low), high)
    return (steps.astype(np.int32) + zero_point.astype(np.int32)).astype(zero_point.dtype)


class QuantizeLinearOp(AiDialect.Operation, name="quantize_linear"):
    """out = saturate(round(input / scale) + zero_point).

    The quotient is one division in f32, rounded to the nearest integer, halves to the even one, before the zero point
    is added. What is beyond the type's range becomes its end; NaN becomes the lowest integer.

    Shapes: scale and zero_point broadcast to input (one for all, one per channel, ...); out as input.
    Types: input and scale f32, f16 or bf16, the same for both; zero_point and out i8, ui8, i16 or ui16.
    Errors: input and scale of different element types; scale or zero_point that do not broadcast to input.
    Source: ONNX QuantizeLinear-25 (axis, blocks and types of fewer bits are the importer's work). NaN as ONNX Runtime.
    """

    traits = frozenset({Trait.ELEMENTWISE})
    input: Operand[ScaleTensor]
    scale: Operand[ScaleTensor]
    zero_point: Operand[NarrowTensor]
    out: Result[NarrowTensor]

    @staticmethod
    def infer(input: TensorType, scale: TensorType, zero_point: TensorType) -> TensorType:
        check_same_element(input=input, scale=scale)
        check_broadcasts_to("scale", scale, input.shape)
        check_broadcasts_to("zero_point", zero_point, input.shape)
        return TensorType(input.shape, zero_point.element)

    @staticmethod
    @quiet
    def reference(input: np.ndarray, scale: np.ndarray, zero_point: np.ndarray) -> np.ndarray:
        return quantized(np.divide(input.astype(np.float32), scale.astype(np.float32)), zero_point)

    @staticmethod
    def flops(input: TensorType, scale: TensorType, zero_point: TensorType) -> int:
        return 2 * input.size


class DequantizeLinearOp(AiDialect.Operation, name="dequantize_linear"):
    """out = (input - zero_point) * scale, the difference in i32, the product in f32 and rounded once.

    Shapes: scale and zero_point broadcast to input (one for all, one per channel, ...); out as input.
    Types: input and zero_point i8, ui8, i16, ui16 or i32, the same for both; scale and out f32, f16 or bf16.
    Errors: input and zero_point of different element types; scale or zero_point that do not broadcast to input.
    Source: ONNX DequantizeLinear-25 (axis, blocks, output_dtype and types of fewer bits are the importer's work).
    """

    traits = frozenset({Trait.ELEMENTWISE})
    input: Operand[QuantizedTensor]
    scale: Operand[ScaleTensor]
    zero_point: Operand[QuantizedTensor]
    out: Result[ScaleTensor]

    @staticmethod
    def infer(input: TensorType, scale: TensorType, zero_point: TensorType) -> TensorType:
        check_same_element(input=input, zero_point=zero_point)
        check_broadcasts_to("scale", scale, input.shape)
        check_broadcasts_to("zero_point", zero_point, input.shape)
        return TensorType(input.shape, scale.element)

    @staticmethod
    @quiet
    def reference(input: np.ndarray, scale: np.ndarray, zero_point: np.ndarray) -> np.ndarray:
        steps = np.subtract(input.astype(np.int32), zero_point.astype(np.int32))
        return np.multiply(steps.astype(np.float32), scale).astype(scale.dtype)

    @staticmethod
    def flops(input: TensorType, scale: TensorType, zero_point: TensorType) -> int:
        return 2 * input.size
