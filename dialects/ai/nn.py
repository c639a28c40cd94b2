"""Contractions and normalisation."""

from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import (
    check_accumulator,
    check_axis,
    check_packed_type,
    check_packing,
    check_same_element,
    default_accumulator,
    product_shape,
    result_element,
)
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import quiet, widen
from aiopt.dialects.ai.packing import (
    channels_first,
    check_interleave,
    deinterleaved,
    packed_columns,
    unpack_columns,
)
from aiopt.dialects.constraints import FloatTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType, numpy_dtype


class MatMulOp(AiDialect.Operation, name="matmul"):
    """Multiply matrices.

    Shapes: lhs [..., m, k], rhs [..., k, n] -> out [..., m, n]; leading dimensions broadcast.
    With `pack` = nr and `columns` = n, rhs is [..., ceil(n / nr), k, nr], in pairs with `interleave`
    (see packing.py).
    Types: floats, the same for all; sums are kept in `acc` (default f32, f64 for f64), which `to` gives as result.
    Errors: rank below 2; differing k or element types; leading dimensions that do not broadcast; acc too narrow.
    Source: ONNX MatMul-13 (operands of rank 1 are the importer's work).
    """

    traits = frozenset({Trait.CONTRACTION})
    lhs: Operand[FloatTensor]
    rhs: Operand[FloatTensor]
    acc: ir.TypeAttr
    to: ir.TypeAttr | None
    pack: ir.IntegerAttr | None
    columns: ir.IntegerAttr | None
    interleave: ir.IntegerAttr | None
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, lhs: TensorType, rhs: TensorType, **_: object) -> dict[str, Any]:
        return {"acc": default_accumulator(lhs.element)}

    @staticmethod
    def infer(
        lhs: TensorType,
        rhs: TensorType,
        *,
        acc: str,
        to: str | None = None,
        pack: int | None = None,
        columns: int | None = None,
        interleave: int | None = None,
    ) -> TensorType:
        check_packing("columns", pack, columns)
        if pack is not None and columns is not None:
            if rhs.rank < 3:
                raise ValueError(f"a packed rhs must have rank 3 or more, but has {rhs.rank}")
            plain = rhs.with_shape(*rhs.shape[:-3], rhs.shape[-2], columns)
            check_packed_type("rhs", rhs, packed_columns(plain, pack))
            rhs = plain
        check_interleave(interleave, pack, rhs.shape[-2] if rhs.rank > 1 else 0)
        check_same_element(lhs=lhs, rhs=rhs)
        check_accumulator(acc, lhs.element)
        return TensorType(tuple(product_shape(lhs, rhs)), result_element(to, lhs.element, acc))

    @staticmethod
    @quiet
    def reference(
        lhs: np.ndarray,
        rhs: np.ndarray,
        *,
        acc: str,
        to: str | None = None,
        pack: int | None = None,
        columns: int | None = None,
        interleave: int | None = None,
    ) -> np.ndarray:
        if pack is not None and columns is not None:
            rhs = unpack_columns(rhs if interleave is None else deinterleaved(rhs), columns)
        wide = numpy_dtype(acc)
        return np.matmul(lhs.astype(wide), rhs.astype(wide)).astype(numpy_dtype(to) if to else lhs.dtype)

    @staticmethod
    def flops(lhs: TensorType, rhs: TensorType, **attributes: Any) -> int:
        return 2 * MatMulOp.infer(lhs, rhs, **attributes).size * lhs.shape[-1]


class BatchNormOp(AiDialect.Operation, name="batch_norm"):
    """Normalise each channel by given statistics: (input - mean) / sqrt(variance + epsilon) * scale + bias.

    Shapes: input [N, C, ...], scale, bias, mean, variance [C] -> out as input. With `layout` = "channels_last", input
    and out are [N, ..., C].
    Types: floats, the same for all; f16 is computed in f32.
    Errors: rank below 2; parameters of another shape or element type.
    Source: ONNX BatchNormalization-15 with training_mode = 0.
    """

    traits = frozenset({Trait.NORMALIZATION})
    input: Operand[FloatTensor]
    scale: Operand[FloatTensor]
    bias: Operand[FloatTensor]
    mean: Operand[FloatTensor]
    variance: Operand[FloatTensor]
    epsilon: ir.FloatAttr
    layout: ir.StringAttr | None
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, *operands: TensorType, **_: object) -> dict[str, Any]:
        return {"epsilon": 1e-5}

    @staticmethod
    def infer(
        input: TensorType,
        scale: TensorType,
        bias: TensorType,
        mean: TensorType,
        variance: TensorType,
        *,
        epsilon: float,
        layout: str | None = None,
    ) -> TensorType:
        parameters = {"scale": scale, "bias": bias, "mean": mean, "variance": variance}
        check_same_element(input=input, **parameters)
        if input.rank < 2:
            raise ValueError(f"the input must have the shape [N, C, ...], but has {list(input.shape)}")
        channels = channels_first(input, layout).shape[1]
        for name, kind in parameters.items():
            if kind.shape != (channels,):
                raise ValueError(f"{name} must have the shape [{channels}], but has {list(kind.shape)}")
        return input

    @staticmethod
    @quiet
    def reference(
        input: np.ndarray,
        scale: np.ndarray,
        bias: np.ndarray,
        mean: np.ndarray,
        variance: np.ndarray,
        *,
        epsilon: float,
        layout: str | None = None,
    ) -> np.ndarray:
        shape = (-1, *[1] * (input.ndim - 2)) if layout is None else (-1,)
        scale, bias, mean, variance = (widen(p).reshape(shape) for p in (scale, bias, mean, variance))
        out = (widen(input) - mean) / np.sqrt(variance + epsilon) * scale + bias
        return out.astype(input.dtype)

    @staticmethod
    def flops(input: TensorType, *parameters: TensorType, epsilon: float, layout: str | None = None) -> int:
        return 2 * input.size  # a scale and a shift for each element; the parameters fold into these two


class SoftmaxOp(AiDialect.Operation, name="softmax"):
    """out = e^input / sum of e^input along `axis`, computed on input - max.

    Shapes: as input. Types: floats; f16 is computed in f32.
    Errors: axis out of range (it counts from the front).
    Source: ONNX Softmax-13 (the two-dimensional one of older opsets is the importer's work).
    """

    traits = frozenset({Trait.NORMALIZATION})
    input: Operand[FloatTensor]
    axis: ir.IntegerAttr
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, input: TensorType, **_: object) -> dict[str, Any]:
        return {"axis": input.rank - 1}

    @staticmethod
    def infer(input: TensorType, *, axis: int) -> TensorType:
        check_axis(axis, input.rank)
        return input

    @staticmethod
    @quiet
    def reference(input: np.ndarray, *, axis: int) -> np.ndarray:
        wide = widen(input)
        powers = np.exp(wide - np.max(wide, axis=axis, keepdims=True, initial=-np.inf))
        return (powers / np.sum(powers, axis=axis, keepdims=True)).astype(input.dtype)

    @staticmethod
    def flops(input: TensorType, *, axis: int) -> int:
        return 5 * input.size  # max, subtract, exp, sum, divide
