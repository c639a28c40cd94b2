"""Contractions of integers, whose sums are kept in i32."""

import math
from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import check_broadcasts_to, conv_shape, product_shape
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import convolve, pad, quiet
from aiopt.dialects.ai.quantize import quantized
from aiopt.dialects.constraints import ByteTensor, F32Tensor, I32Tensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType


def _check_zero_point(name: str, zero_point: TensorType, owner: TensorType, summed: int) -> None:
    """A zero point has the type of what it belongs to, and is one for all elements that are summed up."""
    if zero_point.element != owner.element:
        raise ValueError(f"{name} must have elements of type {owner.element}, but has {zero_point.element}")
    _check_parameter(name, zero_point, owner, summed)


def _check_parameter(name: str, kind: TensorType, owner: TensorType, summed: int) -> None:
    shape = list(owner.shape)
    shape[summed] = 1
    check_broadcasts_to(name, kind, tuple(shape))


def _wrapped(sums: np.ndarray) -> np.ndarray:
    """Exact sums in f64 as i32, which wraps."""
    return sums.astype(np.int64).astype(np.int32)


def _shifted(array: np.ndarray, zero_point: np.ndarray) -> np.ndarray:
    """The integers above their zero point, in f64: sums of products of 9 bits are exact there, and quick."""
    return array.astype(np.float64) - zero_point.astype(np.float64)


class MatMulIntegerOp(AiDialect.Operation, name="matmul_integer"):
    """Multiply matrices of integers: (lhs - lhs_zero_point) times (rhs - rhs_zero_point), summed in i32, which wraps.

    Shapes: lhs [..., m, k], rhs [..., k, n] -> out [..., m, n]; leading dimensions broadcast. lhs_zero_point broadcasts
    to [..., m, 1], rhs_zero_point to [..., 1, n].
    Types: lhs, rhs i8 or ui8, each with a zero point of its type; out i32.
    Errors: rank below 2; differing k; leading dimensions that do not broadcast; zero points of another type or shape.
    Source: ONNX MatMulInteger-10 (operands of rank 1 and zero points as vectors are the importer's work).
    """

    traits = frozenset({Trait.CONTRACTION})
    lhs: Operand[ByteTensor]
    rhs: Operand[ByteTensor]
    lhs_zero_point: Operand[ByteTensor]
    rhs_zero_point: Operand[ByteTensor]
    out: Result[I32Tensor]

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, lhs_zero_point: TensorType, rhs_zero_point: TensorType) -> TensorType:
        shape = product_shape(lhs, rhs)
        _check_zero_point("lhs_zero_point", lhs_zero_point, lhs, -1)
        _check_zero_point("rhs_zero_point", rhs_zero_point, rhs, -2)
        return TensorType(shape, "i32")

    @staticmethod
    def reference(
        lhs: np.ndarray, rhs: np.ndarray, lhs_zero_point: np.ndarray, rhs_zero_point: np.ndarray
    ) -> np.ndarray:
        return _wrapped(np.matmul(_shifted(lhs, lhs_zero_point), _shifted(rhs, rhs_zero_point)))

    @staticmethod
    def flops(lhs: TensorType, rhs: TensorType, *zero_points: TensorType) -> int:
        return 2 * math.prod(product_shape(lhs, rhs)) * lhs.shape[-1]


class QLinearMatMulOp(AiDialect.Operation, name="qlinear_matmul"):
    """Multiply matrices of integers that stand for real numbers; the result is quantized again.

    out = saturate(round(sum * (a_scale * b_scale / y_scale)) + y_zero_point), where sum is that of `ai.matmul_integer`;
    each operation on scales is rounded to f32, the sum is converted to f32, halves are rounded to even.

    Shapes: a [..., m, k], b [..., k, n] -> out [..., m, n]; leading dimensions broadcast. Scale and zero point of a
    broadcast to [..., m, 1], those of b to [..., 1, n], those of y to out.
    Types: a, b, y_zero_point i8 or ui8, a and b each with a zero point of its type; scales f32; out as y_zero_point.
    Errors: rank below 2; differing k; leading dimensions that do not broadcast; zero points of another type or shape.
    Source: ONNX QLinearMatMul-21, in the order of operations of ONNX Runtime (shapes as in `ai.matmul_integer`).
    """

    traits = frozenset({Trait.CONTRACTION})
    a: Operand[ByteTensor]
    a_scale: Operand[F32Tensor]
    a_zero_point: Operand[ByteTensor]
    b: Operand[ByteTensor]
    b_scale: Operand[F32Tensor]
    b_zero_point: Operand[ByteTensor]
    y_scale: Operand[F32Tensor]
    y_zero_point: Operand[ByteTensor]
    out: Result[ByteTensor]

    @staticmethod
    def infer(
        a: TensorType,
        a_scale: TensorType,
        a_zero_point: TensorType,
        b: TensorType,
        b_scale: TensorType,
        b_zero_point: TensorType,
        y_scale: TensorType,
        y_zero_point: TensorType,
    ) -> TensorType:
        shape = product_shape(a, b)
        _check_zero_point("a_zero_point", a_zero_point, a, -1)
        _check_zero_point("b_zero_point", b_zero_point, b, -2)
        _check_parameter("a_scale", a_scale, a, -1)
        _check_parameter("b_scale", b_scale, b, -2)
        check_broadcasts_to("y_scale", y_scale, shape)
        check_broadcasts_to("y_zero_point", y_zero_point, shape)
        return TensorType(shape, y_zero_point.element)

    @staticmethod
    @quiet
    def reference(
        a: np.ndarray,
        a_scale: np.ndarray,
        a_zero_point: np.ndarray,
        b: np.ndarray,
        b_scale: np.ndarray,
        b_zero_point: np.ndarray,
        y_scale: np.ndarray,
        y_zero_point: np.ndarray,
    ) -> np.ndarray:
        sums = MatMulIntegerOp.reference(a, b, a_zero_point, b_zero_point).astype(np.float32)
        return quantized(sums * (a_scale * b_scale / y_scale), y_zero_point)

    @staticmethod
    def flops(a: TensorType, a_scale: TensorType, a_zero_point: TensorType, b: TensorType, *others: TensorType) -> int:
        size = math.prod(product_shape(a, b))
        return 2 * size * a.shape[-1] + 3 * size


class ConvIntegerOp(AiDialect.Operation, name="conv_integer"):
    """Convolve integers, summed in i32, which wraps: what the zero points stand for is 0, around the input too.

    Shapes: input [N, C, *spatial], weight [O, C/group, *kernel], input_zero_point [], weight_zero_point [] or [O]
    -> out [N, O, *counts], counts and pads as for `ai.conv`.
    Types: input, weight i8 or ui8, each with a zero point of its type; out i32.
    Errors: ranks, channels or groups that do not fit; a window larger than the padded input; zero points of another
    type or shape.
    Source: ONNX ConvInteger-10 (auto_pad is the importer's work).
    """

    traits = frozenset({Trait.CONTRACTION})
    input: Operand[ByteTensor]
    weight: Operand[ByteTensor]
    input_zero_point: Operand[ByteTensor]
    weight_zero_point: Operand[ByteTensor]
    strides: ir.DenseI64ArrayAttr
    pads: ir.DenseI64ArrayAttr
    dilations: ir.DenseI64ArrayAttr
    group: ir.IntegerAttr
    out: Result[I32Tensor]

    @classmethod
    def defaults(cls, input: TensorType, *others: TensorType, **_: object) -> dict[str, Any]:
        rank = input.rank - 2
        return {"strides": [1] * rank, "pads": [0] * (2 * rank), "dilations": [1] * rank, "group": 1}

    @staticmethod
    def infer(
        input: TensorType,
        weight: TensorType,
        input_zero_point: TensorType,
        weight_zero_point: TensorType,
        *,
        group: int,
        **window: list[int],
    ) -> TensorType:
        shape = conv_shape(input, weight, group, window)
        for name, zero_point, owner in (
            ("input_zero_point", input_zero_point, input),
            ("weight_zero_point", weight_zero_point, weight),
        ):
            if zero_point.element != owner.element:
                raise ValueError(f"{name} must have elements of type {owner.element}, but has {zero_point.element}")
        if input_zero_point.rank != 0:
            raise ValueError(f"input_zero_point must be a scalar, but has shape {list(input_zero_point.shape)}")
        if weight_zero_point.shape not in ((), shape[1:2]):
            have = list(weight_zero_point.shape)
            raise ValueError(f"weight_zero_point must have the shape [] or [{shape[1]}], but has {have}")
        return TensorType(shape, "i32")

    @staticmethod
    def reference(
        input: np.ndarray,
        weight: np.ndarray,
        input_zero_point: np.ndarray,
        weight_zero_point: np.ndarray,
        *,
        strides: list[int],
        pads: list[int],
        dilations: list[int],
        group: int,
    ) -> np.ndarray:
        padded = pad(_shifted(input, input_zero_point), pads, 0)
        filters = _shifted(weight, weight_zero_point.reshape(-1, *[1] * (weight.ndim - 1)))
        return _wrapped(convolve(padded, filters, strides=strides, dilations=dilations, group=group))

    @staticmethod
    def flops(input: TensorType, weight: TensorType, *zero_points: TensorType, **attributes: Any) -> int:
        return 2 * ConvIntegerOp.infer(input, weight, *zero_points, **attributes).size * math.prod(weight.shape[1:])
