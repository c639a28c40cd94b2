"""Trigonometric and hyperbolic functions and their inverses, on one operand."""

import numpy as np

from aiopt.dialects.ai.dialect import Trait
from aiopt.dialects.ai.elementwise import Unary
from aiopt.dialects.ai.numerics import quiet
from aiopt.dialects.constraints import FloatTensor
from aiopt.dialects.ext import Operand, Result


class Transcendental(Unary):
    """Base of functions that mixed precision computes in f32.

    Shapes: as input. Types: floats.
    """

    traits = frozenset({Trait.ELEMENTWISE, Trait.SENSITIVE})


class SinOp(Transcendental, name="sin"):
    """out = sine of input, in radians; NaN of an infinity.

    Shapes: as input. Types: floats.
    Source: ONNX Sin-7.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.sin(input)


class CosOp(Transcendental, name="cos"):
    """out = cosine of input, in radians; NaN of an infinity.

    Shapes: as input. Types: floats.
    Source: ONNX Cos-7.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.cos(input)


class TanOp(Transcendental, name="tan"):
    """out = tangent of input, in radians; NaN of an infinity.

    Shapes: as input. Types: floats.
    Source: ONNX Tan-7.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.tan(input)


class AsinOp(Transcendental, name="asin"):
    """out = arc sine of input, in radians; NaN beyond -1 and 1.

    Shapes: as input. Types: floats.
    Source: ONNX Asin-7.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.arcsin(input)


class AcosOp(Transcendental, name="acos"):
    """out = arc cosine of input, in radians; NaN beyond -1 and 1.

    Shapes: as input. Types: floats.
    Source: ONNX Acos-7.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.arccos(input)


class AtanOp(Transcendental, name="atan"):
    """out = arc tangent of input, in radians.

    Shapes: as input. Types: floats.
    Source: ONNX Atan-7.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.arctan(input)


class SinhOp(Transcendental, name="sinh"):
    """out = hyperbolic sine of input.

    Shapes: as input. Types: floats.
    Source: ONNX Sinh-9.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.sinh(input)


class CoshOp(Transcendental, name="cosh"):
    """out = hyperbolic cosine of input.

    Shapes: as input. Types: floats.
    Source: ONNX Cosh-9.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.cosh(input)


class AsinhOp(Transcendental, name="asinh"):
    """out = inverse hyperbolic sine of input.

    Shapes: as input. Types: floats.
    Source: ONNX Asinh-9.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.arcsinh(input)


class AcoshOp(Transcendental, name="acosh"):
    """out = inverse hyperbolic cosine of input; NaN below 1.

    Shapes: as input. Types: floats.
    Source: ONNX Acosh-9.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.arccosh(input)


class AtanhOp(Transcendental, name="atanh"):
    """out = inverse hyperbolic tangent of input; NaN beyond -1 and 1.

    Shapes: as input. Types: floats.
    Source: ONNX Atanh-9.
    """

    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(input: np.ndarray) -> np.ndarray:
        return np.arctanh(input)
