"""Writes to computed places."""

from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import check_same_element
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import quiet
from aiopt.dialects.constraints import AnyTensor, IndexTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType

REDUCTIONS = ("none", "add", "mul", "max", "min")
_FOLDS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


class ScatterOp(AiDialect.Operation, name="scatter"):
    """The input, in which updates[i] is put at (or combined with) element indices[i] of the first dimension, in order.

    Negative indices count from the end; what lies outside is left out.
    Shapes: input [n, ...], indices [m], updates [m, ...] -> out as input. Types: input, updates and out any one type
    (bool with `reduction` none only), indices i32 or i64.
    Errors: ranks or dimensions that do not fit; differing element types; an unknown reduction, or one of bools.
    Source: ONNX ScatterND-18 and ScatterElements-18 (which the importer flattens).
    """

    traits = frozenset({Trait.SENSITIVE})
    input: Operand[AnyTensor]
    indices: Operand[IndexTensor]
    updates: Operand[AnyTensor]
    reduction: ir.StringAttr
    out: Result[AnyTensor]

    @classmethod
    def defaults(cls, *operands: TensorType, **_: object) -> dict[str, Any]:
        return {"reduction": "none"}

    @staticmethod
    def infer(input: TensorType, indices: TensorType, updates: TensorType, *, reduction: str) -> TensorType:
        check_same_element(input=input, updates=updates)
        if reduction not in REDUCTIONS:
            raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}, not '{reduction}'")
        if reduction != "none" and input.element == "i1":
            raise ValueError(f"bools cannot be combined by {reduction}")
        if input.rank == 0 or indices.rank != 1 or updates.shape != (*indices.shape, *input.shape[1:]):
            raise ValueError(
                f"input [n, ...], indices [m] and updates [m, ...] must fit, but are tensor<{input}>, "
                f"tensor<{indices}> and tensor<{updates}>"
            )
        return input

    @staticmethod
    @quiet
    def reference(input: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, reduction: str) -> np.ndarray:
        out, count = input.copy(), input.shape[0]
        for index, update in zip(indices.tolist(), updates, strict=True):
            if -count <= index < count:
                out[index] = update if reduction == "none" else _FOLDS[reduction](out[index], update)
        return out

    @staticmethod
    def flops(input: TensorType, indices: TensorType, updates: TensorType, *, reduction: str) -> int:
        return 0 if reduction == "none" else updates.size
