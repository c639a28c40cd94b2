"""Reductions over axes."""

from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import check_axes
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import highest, lowest, quiet, widen
from aiopt.dialects.constraints import FloatTensor, NumericTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType


class Reduction(AiDialect.Operation):
    """Base of reductions.

    Shapes: out is input with `axes` of size 1 (keepdims) or dropped; no axes: as input.
    Errors: axes out of range (they count from the front) or not strictly rising.
    """

    traits = frozenset({Trait.REDUCTION})

    @classmethod
    def defaults(cls, input: TensorType, **_: object) -> dict[str, Any]:
        return {"keepdims": True}

    @staticmethod
    def infer(input: TensorType, *, axes: list[int], keepdims: bool) -> TensorType:
        check_axes(axes, input.rank)
        kept = [(1 if i in axes else size) for i, size in enumerate(input.shape) if keepdims or i not in axes]
        return input.with_shape(*kept)

    @staticmethod
    def flops(input: TensorType, *, axes: list[int], keepdims: bool) -> int:
        return input.size


class ReduceSumOp(Reduction, name="reduce_sum"):
    """Sum over `axes`; 0 over nothing.

    Shapes: `axes` become 1 or are dropped. Types: numbers; f16 is summed in f32, integers wrap.
    Errors: axes out of range or not strictly rising.
    Source: ONNX ReduceSum-13 (negative or absent axes are the importer's work).
    """

    input: Operand[NumericTensor]
    axes: ir.DenseI64ArrayAttr
    keepdims: ir.BoolAttr
    out: Result[NumericTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray, *, axes: list[int], keepdims: bool) -> np.ndarray:
        wide = widen(input)
        return np.sum(wide, axis=tuple(axes), keepdims=keepdims, dtype=wide.dtype).astype(input.dtype)


class ReduceProdOp(Reduction, name="reduce_prod"):
    """Product over `axes`; 1 of nothing.

    Shapes: `axes` become 1 or are dropped. Types: numbers; f16 is multiplied in f32, integers wrap.
    Errors: axes out of range or not strictly rising.
    Source: ONNX ReduceProd-18 (negative or absent axes are the importer's work).
    """

    input: Operand[NumericTensor]
    axes: ir.DenseI64ArrayAttr
    keepdims: ir.BoolAttr
    out: Result[NumericTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray, *, axes: list[int], keepdims: bool) -> np.ndarray:
        wide = widen(input)
        return np.prod(wide, axis=tuple(axes), keepdims=keepdims, dtype=wide.dtype).astype(input.dtype)


class ReduceMeanOp(Reduction, name="reduce_mean"):
    """Mean over `axes`; NaN over nothing.

    Shapes: `axes` become 1 or are dropped. Types: floats; f16 is summed in f32.
    Errors: axes out of range or not strictly rising.
    Source: ONNX ReduceMean-18 (integers, negative or absent axes are the importer's work).
    """

    input: Operand[FloatTensor]
    axes: ir.DenseI64ArrayAttr
    keepdims: ir.BoolAttr
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray, *, axes: list[int], keepdims: bool) -> np.ndarray:
        wide = widen(input)
        count = np.prod([input.shape[axis] for axis in axes], dtype=wide.dtype)
        return (np.sum(wide, axis=tuple(axes), keepdims=keepdims) / count).astype(input.dtype)


class ReduceMaxOp(Reduction, name="reduce_max"):
    """The largest element over `axes`; NaN if there is one; -inf or the lowest integer over nothing.

    Shapes: `axes` become 1 or are dropped. Types: numbers.
    Errors: axes out of range or not strictly rising.
    Source: ONNX ReduceMax-18 (negative or absent axes are the importer's work).
    """

    input: Operand[NumericTensor]
    axes: ir.DenseI64ArrayAttr
    keepdims: ir.BoolAttr
    out: Result[NumericTensor]

    @staticmethod
    def reference(input: np.ndarray, *, axes: list[int], keepdims: bool) -> np.ndarray:
        return np.max(input, axis=tuple(axes), keepdims=keepdims, initial=lowest(input.dtype))


class ReduceMinOp(Reduction, name="reduce_min"):
    """The smallest element over `axes`; NaN if there is one; +inf or the highest integer over nothing.

    Shapes: `axes` become 1 or are dropped. Types: numbers.
    Errors: axes out of range or not strictly rising.
    Source: ONNX ReduceMin-18 (negative or absent axes are the importer's work).
    """

    input: Operand[NumericTensor]
    axes: ir.DenseI64ArrayAttr
    keepdims: ir.BoolAttr
    out: Result[NumericTensor]

    @staticmethod
    def reference(input: np.ndarray, *, axes: list[int], keepdims: bool) -> np.ndarray:
        return np.min(input, axis=tuple(axes), keepdims=keepdims, initial=highest(input.dtype))
