"""Running totals along an axis."""

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import check_axis
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import quiet, widen
from aiopt.dialects.constraints import NumericTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType


class Scan(AiDialect.Operation):
    """Base of ops whose element i is a total of the elements 0 to i along `axis`.

    Shapes: as input. Types: numbers; floats are totalled in the next wider type, integers wrap.
    Errors: axis out of range (it counts from the front).
    """

    traits = frozenset({Trait.SENSITIVE})

    @staticmethod
    def infer(input: TensorType, *, axis: int) -> TensorType:
        check_axis(axis, input.rank)
        return input

    @staticmethod
    def flops(input: TensorType, *, axis: int) -> int:
        return input.size


class CumSumOp(Scan, name="cumsum"):
    """out[i] = input[0] + ... + input[i] along `axis`.

    Shapes: as input. Types: numbers; integers wrap.
    Errors: axis out of range.
    Source: ONNX CumSum-14 (exclusive and reverse are the importer's work).
    """

    input: Operand[NumericTensor]
    axis: ir.IntegerAttr
    out: Result[NumericTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray, *, axis: int) -> np.ndarray:
        wide = widen(input)
        return np.cumsum(wide, axis=axis, dtype=wide.dtype).astype(input.dtype)


class CumProdOp(Scan, name="cumprod"):
    """out[i] = input[0] * ... * input[i] along `axis`.

    Shapes: as input. Types: numbers; integers wrap.
    Errors: axis out of range.
    Source: ONNX CumProd-26 (exclusive and reverse are the importer's work).
    """

    input: Operand[NumericTensor]
    axis: ir.IntegerAttr
    out: Result[NumericTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray, *, axis: int) -> np.ndarray:
        wide = widen(input)
        return np.cumprod(wide, axis=axis, dtype=wide.dtype).astype(input.dtype)
