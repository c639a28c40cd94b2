"""Elementwise operations on one operand."""

import math

import numpy as np
from mlir import ir

from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.elementwise import Unary
from aiopt.dialects.ai.numerics import convert, quiet
from aiopt.dialects.constraints import AnyTensor, FloatTensor, NumericTensor, SignedTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType


class IdentityOp(Unary, name="identity"):
    """Copy: out = input.

    Shapes: as input. Types: any.
    Source: ONNX Identity-16.
    """

    input: Operand[AnyTensor]
    out: Result[AnyTensor]

    @staticmethod
    def reference(input: np.ndarray) -> np.ndarray:
        return input.copy()

    @staticmethod
    def flops(input: TensorType) -> int:
        return 0


class NegOp(Unary, name="neg"):
    """out = -input; the lowest integer stays as it is.

    Shapes: as input. Types: floats and signed integers.
    Source: ONNX Neg-13.
    """

    input: Operand[SignedTensor]
    out: Result[SignedTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.negative(input)


class AbsOp(Unary, name="abs"):
    """out = |input|; the lowest integer stays as it is.

    Shapes: as input. Types: numbers.
    Source: ONNX Abs-13.
    """

    input: Operand[NumericTensor]
    out: Result[NumericTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.abs(input)


class ExpOp(Unary, name="exp"):
    """out = e to the power of input.

    Shapes: as input. Types: floats.
    Source: ONNX Exp-13.
    """

    traits = frozenset({Trait.ELEMENTWISE, Trait.SENSITIVE})
    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.exp(input)


class LogOp(Unary, name="log"):
    """out = natural logarithm of input; -inf at 0, NaN below.

    Shapes: as input. Types: floats.
    Source: ONNX Log-13.
    """

    traits = frozenset({Trait.ELEMENTWISE, Trait.SENSITIVE})
    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.log(input)


class Expm1Op(Unary, name="expm1"):
    """out = e^input - 1, exact to the last digits near 0 too.

    Shapes: as input. Types: floats.
    Source: ONNX Elu-22 (its text has exp(x) - 1).
    """

    traits = frozenset({Trait.ELEMENTWISE, Trait.SENSITIVE})
    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.expm1(input)


class Log1pOp(Unary, name="log1p"):
    """out = log(1 + input), exact to the last digits near 0 too; -inf at -1, NaN below.

    Shapes: as input. Types: floats.
    Source: ONNX Softplus-22 (its text has log(exp(x) + 1)).
    """

    traits = frozenset({Trait.ELEMENTWISE, Trait.SENSITIVE})
    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.log1p(input)


class SqrtOp(Unary, name="sqrt"):
    """out = square root of input; NaN below 0.

    Shapes: as input. Types: floats.
    Source: ONNX Sqrt-13.
    """

    traits = frozenset({Trait.ELEMENTWISE, Trait.SENSITIVE})
    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.sqrt(input)


class TanhOp(Unary, name="tanh"):
    """out = hyperbolic tangent of input.

    Shapes: as input. Types: floats.
    Source: ONNX Tanh-13.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    def reference(input: np.ndarray) -> np.ndarray:
        return np.tanh(input)


class ErfOp(Unary, name="erf"):
    """out = error function of input.

    Shapes: as input. Types: floats.
    Source: ONNX Erf-13.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    def reference(input: np.ndarray) -> np.ndarray:
        return np.vectorize(math.erf, otypes=[np.float64])(input).astype(input.dtype)


class SigmoidOp(Unary, name="sigmoid"):
    """out = 1 / (1 + e^-input).

    Shapes: as input. Types: floats.
    Source: ONNX Sigmoid-13.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-input))


class ReluOp(Unary, name="relu"):
    """out = max(input, 0); NaN stays NaN.

    Shapes: as input. Types: floats and signed integers.
    Source: ONNX Relu-14.
    """

    input: Operand[SignedTensor]
    out: Result[SignedTensor]

    @staticmethod
    def reference(input: np.ndarray) -> np.ndarray:
        return np.maximum(input, input.dtype.type(0))


class FloorOp(Unary, name="floor"):
    """out = the largest whole number that is not above input.

    Shapes: as input. Types: floats.
    Source: ONNX Floor-13.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.floor(input)


class CeilOp(Unary, name="ceil"):
    """out = the smallest whole number that is not below input.

    Shapes: as input. Types: floats.
    Source: ONNX Ceil-13.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.ceil(input)


class RoundOp(Unary, name="round"):
    """out = the nearest whole number, the even one of two.

    Shapes: as input. Types: floats.
    Source: ONNX Round-22.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.rint(input)


class CastOp(AiDialect.Operation, name="cast"):
    """Convert each element to the type `to`.

    Floats to integers round toward zero and go by way of i32 (to i64, ui32 and ui64: of i64), of which the low bits are
    kept; NaN and what that word has not become its lowest number. To ui64, floats from 2^63 on to 2^64 stay what they
    are, and larger ones become 2^63. Numbers to bool give `x != 0`; bool to numbers gives 0 or 1; integers to integers
    keep the low bits.

    Shapes: as input. Types: any to any.
    Errors: `to` is no element type aiopt has.
    Source: ONNX Cast-13, which leaves open what is out of range: there, as ONNX Runtime on x86-64.
    """

    traits = frozenset({Trait.ELEMENTWISE})
    input: Operand[AnyTensor]
    to: ir.TypeAttr
    out: Result[AnyTensor]

    @staticmethod
    def infer(input: TensorType, *, to: str) -> TensorType:
        if to not in AnyTensor.elements:
            raise ValueError(f"no tensor of aiopt has elements of type {to} (known: {sorted(AnyTensor.elements)})")
        return TensorType(input.shape, to)

    @staticmethod
    @quiet
    def reference(input: np.ndarray, *, to: str) -> np.ndarray:
        return convert(input, to)

    @staticmethod
    def flops(input: TensorType, *, to: str) -> int:
        return input.size
