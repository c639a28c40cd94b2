"""Comparisons, operations on truth values and bits, and the choice between two values."""

import numpy as np

from aiopt.dialects.ai.checks import broadcast, check_same_element
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.elementwise import Binary, Unary
from aiopt.dialects.constraints import AnyTensor, BitTensor, BoolTensor, NumericTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType


class Comparison(AiDialect.Operation):
    """Base of ops from two elements of one type to a bool.

    Shapes: lhs and rhs broadcast as in numpy; out has the shape they broadcast to.
    Errors: differing element types; shapes that do not broadcast.
    """

    traits = frozenset({Trait.ELEMENTWISE, Trait.SENSITIVE})

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType) -> TensorType:
        return TensorType(Binary.infer(lhs, rhs).shape, "i1")

    @staticmethod
    def flops(lhs: TensorType, rhs: TensorType) -> int:
        return Binary.infer(lhs, rhs).size


class EqualOp(Comparison, name="equal"):
    """out = lhs == rhs; NaN equals nothing, 0.0 equals -0.0.

    Shapes: numpy broadcasting. Types: any, the same for both; out is bool.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Equal-19 without strings.
    """

    lhs: Operand[AnyTensor]
    rhs: Operand[AnyTensor]
    out: Result[BoolTensor]

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.equal(lhs, rhs)


class LessOp(Comparison, name="less"):
    """out = lhs < rhs; false where either is NaN. (Greater is less with its operands swapped.)

    Shapes: numpy broadcasting. Types: numbers, the same for both; out is bool.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Less-13.
    """

    lhs: Operand[NumericTensor]
    rhs: Operand[NumericTensor]
    out: Result[BoolTensor]

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.less(lhs, rhs)


class LessEqualOp(Comparison, name="less_equal"):
    """out = lhs <= rhs; false where either is NaN.

    Shapes: numpy broadcasting. Types: numbers, the same for both; out is bool.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX LessOrEqual-16.
    """

    lhs: Operand[NumericTensor]
    rhs: Operand[NumericTensor]
    out: Result[BoolTensor]

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.less_equal(lhs, rhs)


class AndOp(Binary, name="and"):
    """out = lhs and rhs; of integers, bit by bit.

    Shapes: numpy broadcasting. Types: bool or integers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX And-7, BitwiseAnd-18.
    """

    lhs: Operand[BitTensor]
    rhs: Operand[BitTensor]
    out: Result[BitTensor]

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.bitwise_and(lhs, rhs)


class OrOp(Binary, name="or"):
    """out = lhs or rhs; of integers, bit by bit.

    Shapes: numpy broadcasting. Types: bool or integers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Or-7, BitwiseOr-18.
    """

    lhs: Operand[BitTensor]
    rhs: Operand[BitTensor]
    out: Result[BitTensor]

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.bitwise_or(lhs, rhs)


class XorOp(Binary, name="xor"):
    """out = lhs or rhs, but not both; of integers, bit by bit.

    Shapes: numpy broadcasting. Types: bool or integers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX Xor-7, BitwiseXor-18.
    """

    lhs: Operand[BitTensor]
    rhs: Operand[BitTensor]
    out: Result[BitTensor]

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.bitwise_xor(lhs, rhs)


class NotOp(Unary, name="not"):
    """out = true where input is false; of integers, every bit turned.

    Shapes: as input. Types: bool or integers.
    Source: ONNX Not-1, BitwiseNot-18.
    """

    input: Operand[BitTensor]
    out: Result[BitTensor]

    @staticmethod
    def reference(input: np.ndarray) -> np.ndarray:
        return np.bitwise_not(input)


class SelectOp(AiDialect.Operation, name="select"):
    """out = on_true where condition is true, else on_false. The one not taken has no effect, whatever it is.

    Shapes: the three broadcast as in numpy. Types: condition bool; on_true, on_false and out any one type.
    Errors: on_true and on_false of different element types; shapes that do not broadcast.
    Source: ONNX Where-16.
    """

    traits = frozenset({Trait.ELEMENTWISE})
    condition: Operand[BoolTensor]
    on_true: Operand[AnyTensor]
    on_false: Operand[AnyTensor]
    out: Result[AnyTensor]

    @staticmethod
    def infer(condition: TensorType, on_true: TensorType, on_false: TensorType) -> TensorType:
        check_same_element(on_true=on_true, on_false=on_false)
        return on_true.with_shape(*broadcast(condition.shape, on_true.shape, on_false.shape))

    @staticmethod
    def reference(condition: np.ndarray, on_true: np.ndarray, on_false: np.ndarray) -> np.ndarray:
        return np.where(condition, on_true, on_false)

    @staticmethod
    def flops(condition: TensorType, on_true: TensorType, on_false: TensorType) -> int:
        return SelectOp.infer(condition, on_true, on_false).size
