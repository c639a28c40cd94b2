"""Elementwise operations on two operands, with numpy broadcasting."""

import numpy as np

from aiopt.dialects.ai.dialect import Trait
from aiopt.dialects.ai.elementwise import Binary
from aiopt.dialects.ai.numerics import quiet
from aiopt.dialects.constraints import FloatTensor, NumericTensor
from aiopt.dialects.ext import Operand, Result


class AddOp(Binary, name="add"):
    """out = lhs + rhs; integers wrap.

    Shapes: numpy broadcasting. Types: numbers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Add-14.
    """

    lhs: Operand[NumericTensor]
    rhs: Operand[NumericTensor]
    out: Result[NumericTensor]

    @staticmethod
    @quiet
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.add(lhs, rhs)


class SubOp(Binary, name="sub"):
    """out = lhs - rhs; integers wrap.

    Shapes: numpy broadcasting. Types: numbers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Sub-14.
    """

    lhs: Operand[NumericTensor]
    rhs: Operand[NumericTensor]
    out: Result[NumericTensor]

    @staticmethod
    @quiet
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.subtract(lhs, rhs)


class MulOp(Binary, name="mul"):
    """out = lhs * rhs; integers wrap.

    Shapes: numpy broadcasting. Types: numbers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Mul-14.
    """

    lhs: Operand[NumericTensor]
    rhs: Operand[NumericTensor]
    out: Result[NumericTensor]

    @staticmethod
    @quiet
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.multiply(lhs, rhs)


class DivOp(Binary, name="div"):
    """out = lhs / rhs; integers round toward zero, their lowest over -1 is itself, and any over 0 is 0.

    Shapes: numpy broadcasting. Types: numbers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Div-14.
    """

    lhs: Operand[NumericTensor]
    rhs: Operand[NumericTensor]
    out: Result[NumericTensor]

    @staticmethod
    @quiet
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        if lhs.dtype.kind == "f":
            return np.divide(lhs, rhs)
        floor = np.floor_divide(lhs, rhs)
        inexact = np.multiply(floor, rhs) != lhs
        quotient = floor + (inexact & ((lhs < 0) != (rhs < 0))).astype(lhs.dtype)
        return np.where(rhs == 0, lhs.dtype.type(0), quotient)


class RemainderOp(Binary, name="remainder"):
    """out = what is left of lhs after taking rhs away as often as it fits: lhs - trunc(lhs / rhs) * rhs, exactly.

    It has the sign of lhs. An integer over 0 leaves 0; a float over 0, and an infinite lhs, NaN; over infinity, lhs.
    Shapes: numpy broadcasting. Types: numbers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Mod-13 with fmod = 1 (the other one is the importer's work).
    """

    traits = frozenset({Trait.ELEMENTWISE, Trait.SENSITIVE})
    lhs: Operand[NumericTensor]
    rhs: Operand[NumericTensor]
    out: Result[NumericTensor]

    @staticmethod
    @quiet
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.fmod(lhs, rhs)


class PowOp(Binary, name="pow"):
    """out = lhs to the power of rhs, as C's pow.

    Shapes: numpy broadcasting. Types: floats, the same for all (other mixes are the importer's work).
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Pow-15.
    """

    traits = frozenset({Trait.ELEMENTWISE, Trait.SENSITIVE})
    lhs: Operand[FloatTensor]
    rhs: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    @quiet
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.power(lhs, rhs)


class MaximumOp(Binary, name="maximum"):
    """out = the larger of lhs and rhs; NaN if either is.

    Shapes: numpy broadcasting. Types: numbers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Max-13 of two operands.
    """

    lhs: Operand[NumericTensor]
    rhs: Operand[NumericTensor]
    out: Result[NumericTensor]

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.maximum(lhs, rhs)


class MinimumOp(Binary, name="minimum"):
    """out = the smaller of lhs and rhs; NaN if either is.

    Shapes: numpy broadcasting. Types: numbers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Min-13 of two operands.
    """

    lhs: Operand[NumericTensor]
    rhs: Operand[NumericTensor]
    out: Result[NumericTensor]

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.minimum(lhs, rhs)
