"""Operations on the bits of elements."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.elementwise import Binary
from aiopt.dialects.constraints import AnyTensor, IntegerTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType, item_bytes, numpy_dtype


class ShiftLeftOp(Binary, name="shift_left"):
    """out = the bits of lhs moved up by rhs places; 0 where rhs is negative, or the width of the type or more.

    Shapes: numpy broadcasting. Types: integers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX BitShift-28 with direction LEFT.
    """

    lhs: Operand[IntegerTensor]
    rhs: Operand[IntegerTensor]
    out: Result[IntegerTensor]

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.left_shift(lhs, rhs)


class ShiftRightOp(Binary, name="shift_right"):
    """out = the bits of lhs moved down by rhs places, those of a signed type with copies of the sign behind them.

    Where rhs is negative, or the width of the type or more, only such copies are left: -1 or 0.
    Shapes: numpy broadcasting. Types: integers, the same for all.
    Errors: differing element types; shapes that do not broadcast.
    Source: ONNX BitShift-28 with direction RIGHT.
    """

    lhs: Operand[IntegerTensor]
    rhs: Operand[IntegerTensor]
    out: Result[IntegerTensor]

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return np.right_shift(lhs, rhs)


class BitcastOp(AiDialect.Operation, name="bitcast"):
    """The same bits read as elements of the type `to`.

    Shapes: as input. Types: any to any of as many bits, a bool being a byte of 0 or 1.
    Errors: `to` has another width, or is bool (of whose bytes 0 and 1 alone mean anything).
    Source: ONNX BitCast-26 (to bool is the importer's work).
    """

    traits = frozenset({Trait.ELEMENTWISE, Trait.SENSITIVE})
    input: Operand[AnyTensor]
    to: ir.TypeAttr
    out: Result[AnyTensor]

    @staticmethod
    def infer(input: TensorType, *, to: str) -> TensorType:
        if to not in AnyTensor.elements - {"i1"} or item_bytes(to) != item_bytes(input.element):
            raise ValueError(f"to must be a type other than i1 and as wide as {input.element}, but is {to}")
        return TensorType(input.shape, to)

    @classmethod
    def compute(cls, operands: Sequence[Any], **attributes: Any) -> list[np.ndarray]:
        """As Operation.compute, but f16 and bf16 are not widened."""
        return [cls.reference(*operands, **attributes)]

    @staticmethod
    def reference(input: np.ndarray, *, to: str) -> np.ndarray:
        return np.ascontiguousarray(input).view(numpy_dtype(to)).reshape(input.shape)
