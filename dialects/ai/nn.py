"""Contractions, pooling and normalisation."""

import numpy as np
from mlir import ir

from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.constraints import FloatTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType


class MatMulOp(AiDialect.Operation, name="matmul"):
    """Multiply two matrices.

    Shapes: lhs [..., m, k], rhs [..., k, n] -> out [..., m, n]; leading dimensions broadcast.
    """

    traits = frozenset({Trait.CONTRACTION})
    lhs: Operand[FloatTensor]
    rhs: Operand[FloatTensor]
    acc: ir.TypeAttr
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, lhs: TensorType, rhs: TensorType, **_: object) -> dict[str, object]:
        return {"acc": "f64" if lhs.element == "f64" else "f32"}

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, *, acc: str) -> TensorType:
        if lhs.shape[-1] != rhs.shape[-2]:
            raise ValueError(f"the inner dimensions {lhs.shape[-1]} and {rhs.shape[-2]} differ")
        lead = np.broadcast_shapes(lhs.shape[:-2], rhs.shape[:-2])
        return lhs.with_shape(*lead, lhs.shape[-2], rhs.shape[-1])

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray, *, acc: str) -> np.ndarray:
        return np.matmul(lhs, rhs)
