"""Layer normalisation."""

from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import check_axis, check_same_element
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import quiet, widen
from aiopt.dialects.constraints import FloatTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType


class LayerNormOp(AiDialect.Operation, name="layer_norm"):
    """Normalise over the dimensions from `axis` to the last: (x - mean) / sqrt(variance + epsilon) * scale + bias.

    The variance is the mean of (x - mean)^2.

    Shapes: scale and bias (optional) have the shape of input's dimensions from `axis` on; out as input.
    Types: floats, the same for all; f16 is computed in f32.
    Errors: axis out of range (it counts from the front); scale or bias of another shape or element type.
    Source: ONNX LayerNormalization-17 with stash_type = 1 and one output; Ba et al., Layer Normalization, 2016.
    """

    traits = frozenset({Trait.NORMALIZATION})
    input: Operand[FloatTensor]
    scale: Operand[FloatTensor]
    bias: Operand[FloatTensor] | None
    axis: ir.IntegerAttr
    epsilon: ir.FloatAttr
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, input: TensorType, *_: object, **__: object) -> dict[str, Any]:
        return {"axis": input.rank - 1, "epsilon": 1e-5}

    @staticmethod
    def infer(
        input: TensorType, scale: TensorType, bias: TensorType | None, *, axis: int, epsilon: float
    ) -> TensorType:
        check_same_element(input=input, scale=scale, bias=bias)
        check_axis(axis, input.rank)
        for name, kind in (("scale", scale), ("bias", bias)):
            if kind is not None and kind.shape != input.shape[axis:]:
                raise ValueError(f"{name} must have the shape {list(input.shape[axis:])}, but has {list(kind.shape)}")
        return input

    @staticmethod
    @quiet
    def reference(
        input: np.ndarray, scale: np.ndarray, bias: np.ndarray | None, *, axis: int, epsilon: float
    ) -> np.ndarray:
        wide, axes = widen(input), tuple(range(axis, input.ndim))
        count = np.prod(input.shape[axis:], dtype=wide.dtype)
        centred = wide - np.sum(wide, axis=axes, keepdims=True) / count
        variance = np.sum(centred * centred, axis=axes, keepdims=True) / count
        out = centred / np.sqrt(variance + wide.dtype.type(epsilon)) * widen(scale)
        return (out if bias is None else out + widen(bias)).astype(input.dtype)

    @staticmethod
    def flops(input: TensorType, *parameters: TensorType | None, axis: int, epsilon: float) -> int:
        return 8 * input.size  # sum, subtract, square, sum, divide, scale, shift; the root counts per row
