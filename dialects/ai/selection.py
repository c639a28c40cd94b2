"""Elements chosen by their rank."""

from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import check_axis
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.constraints import NumericTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType


class TopIndicesOp(AiDialect.Operation, name="top_indices"):
    """Where the `count` largest elements along `axis` stand, the largest first; with `largest` false the smallest.

    Of equal elements the one that stands first comes first. NaN counts as larger than all numbers.

    Shapes: as input, `count` along `axis` -> i64. Types: numbers.
    Errors: axis out of range (it counts from the front); count below 0 or above the dimension.
    Source: ONNX TopK-11 (the values, by a gather, are the importer's work).
    """

    traits = frozenset({Trait.SENSITIVE})
    input: Operand[NumericTensor]
    axis: ir.IntegerAttr
    count: ir.IntegerAttr
    largest: ir.BoolAttr
    out: Result[NumericTensor]

    @classmethod
    def defaults(cls, *_: TensorType, **__: object) -> dict[str, Any]:
        return {"largest": True}

    @staticmethod
    def infer(input: TensorType, *, axis: int, count: int, largest: bool) -> TensorType:
        check_axis(axis, input.rank)
        if not 0 <= count <= input.shape[axis]:
            raise ValueError(f"count must be 0 to {input.shape[axis]}, but is {count}")
        return TensorType((*input.shape[:axis], count, *input.shape[axis + 1 :]), "i64")

    @staticmethod
    def reference(input: np.ndarray, *, axis: int, count: int, largest: bool) -> np.ndarray:
        keys = input if input.dtype.kind in "iuf" else input.astype(np.float32)  # bf16 is no type numpy sorts
        if largest:  # of the array backwards, backwards: a stable order of falling elements
            order = keys.shape[axis] - 1 - np.flip(np.argsort(np.flip(keys, axis), axis, kind="stable"), axis)
        else:
            order = np.argsort(keys, axis, kind="stable")
        return np.ascontiguousarray(np.take(order, np.arange(count), axis).astype(np.int64))

    @staticmethod
    def flops(input: TensorType, *, count: int, **_: object) -> int:
        return input.size * count
