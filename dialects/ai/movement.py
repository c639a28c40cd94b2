"""Operations that move elements without arithmetic."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import broadcast, check_at_least, check_axis, check_length, check_same_element
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.packing import (
    CHANNELS_FIRST,
    CHANNELS_LAST,
    array_channels_first,
    array_in_layout,
    channels_first,
    in_layout,
)
from aiopt.dialects.constraints import AnyTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType


class ReshapeOp(AiDialect.Operation, name="reshape"):
    """The same elements in the same row-major order under another shape.

    Shapes: any -> `shape`, of equal size. Types: any.
    Errors: a negative size; another number of elements.
    Source: ONNX Reshape-14 (0 and -1 in the shape are the importer's work).
    """

    traits = frozenset({Trait.VIEW})
    input: Operand[AnyTensor]
    shape: ir.DenseI64ArrayAttr
    out: Result[AnyTensor]

    @staticmethod
    def infer(input: TensorType, *, shape: list[int]) -> TensorType:
        check_at_least("shape", shape, 0)
        if math.prod(shape) != input.size:
            raise ValueError(f"the shape {list(shape)} does not hold the {input.size} elements of tensor<{input}>")
        return input.with_shape(*shape)

    @staticmethod
    def reference(input: np.ndarray, *, shape: list[int]) -> np.ndarray:
        return input.reshape(shape)


class TransposeOp(AiDialect.Operation, name="transpose"):
    """Reorder dimensions: dimension i of out is dimension permutation[i] of input.

    Shapes: out.shape[i] = input.shape[permutation[i]]. Types: any.
    Errors: `permutation` is not one of 0 .. rank - 1.
    Source: ONNX Transpose-13.
    """

    traits = frozenset({Trait.MOVEMENT})
    input: Operand[AnyTensor]
    permutation: ir.DenseI64ArrayAttr
    out: Result[AnyTensor]

    @staticmethod
    def infer(input: TensorType, *, permutation: list[int]) -> TensorType:
        if sorted(permutation) != list(range(input.rank)):
            raise ValueError(f"{list(permutation)} is not a permutation of the {input.rank} dimensions")
        return input.with_shape(*[input.shape[axis] for axis in permutation])

    @staticmethod
    def reference(input: np.ndarray, *, permutation: list[int]) -> np.ndarray:
        return np.transpose(input, permutation)


class RelayoutOp(AiDialect.Operation, name="relayout"):
    """Change the layout of an activation: the channel dimension goes to the end, or back to second place.

    Shapes: to "channels_last" [N, C, *spatial] -> [N, *spatial, C]; to "channels_first" [N, *spatial, C] ->
    [N, C, *spatial]. Types: any.
    Errors: rank below 3 (there is one layout only); `to` is neither.
    Source: ONNX Transpose-13 by one of two permutations; `ai-assign-layout` puts it between ops of different layout.
    """

    traits = frozenset({Trait.MOVEMENT})
    input: Operand[AnyTensor]
    to: ir.StringAttr
    out: Result[AnyTensor]

    @staticmethod
    def infer(input: TensorType, *, to: str) -> TensorType:
        if to not in (CHANNELS_FIRST, CHANNELS_LAST):
            raise ValueError(f"to must be '{CHANNELS_FIRST}' or '{CHANNELS_LAST}', but is '{to}'")
        if input.rank < 3:
            raise ValueError(f"the input must have rank 3 or more, but has {input.rank}")
        return (in_layout if to == CHANNELS_LAST else channels_first)(input, CHANNELS_LAST)

    @staticmethod
    def reference(input: np.ndarray, *, to: str) -> np.ndarray:
        return (array_in_layout if to == CHANNELS_LAST else array_channels_first)(input, CHANNELS_LAST).copy()


class SliceOp(AiDialect.Operation, name="slice"):
    """Take every step-th element from a start: out[i] = input[start + i * step], in each dimension.

    Shapes: out has the shape `sizes`; starts, sizes and steps have one number per dimension. Types: any.
    Errors: a step of 0; an element taken from outside the input (starts count from the front); lengths that differ.
    Source: ONNX Slice-13 (negative and clamped bounds are the importer's work).
    """

    traits = frozenset({Trait.MOVEMENT})
    input: Operand[AnyTensor]
    starts: ir.DenseI64ArrayAttr
    sizes: ir.DenseI64ArrayAttr
    steps: ir.DenseI64ArrayAttr
    out: Result[AnyTensor]

    @classmethod
    def defaults(cls, input: TensorType, **_: object) -> dict[str, Any]:
        return {"steps": [1] * input.rank}

    @staticmethod
    def infer(input: TensorType, *, starts: list[int], sizes: list[int], steps: list[int]) -> TensorType:
        for name, values in (("starts", starts), ("sizes", sizes), ("steps", steps)):
            check_length(name, values, input.rank)
        check_at_least("starts", starts, 0)
        check_at_least("sizes", sizes, 0)
        for i, (start, size, step) in enumerate(zip(starts, sizes, steps, strict=True)):
            if step == 0:
                raise ValueError("steps must not be 0")
            last = start + (size - 1) * step
            if size and not (start < input.shape[i] and 0 <= last < input.shape[i]):
                raise ValueError(
                    f"dimension {i}: elements {start} to {last} are not all within 0 to {input.shape[i] - 1}"
                )
        return input.with_shape(*sizes)

    @staticmethod
    def reference(input: np.ndarray, *, starts: list[int], sizes: list[int], steps: list[int]) -> np.ndarray:
        taken = [start + step * np.arange(size) for start, size, step in zip(starts, sizes, steps, strict=True)]
        return input[np.ix_(*taken)]


class ConcatOp(AiDialect.Operation, name="concat"):
    """Join 1 to 8 tensors along `axis`.

    Shapes: equal but for `axis`, whose sizes add up. Types: any, the same for all.
    Errors: no operand or more than 8; differing element types, ranks or other dimensions; axis out of range.
    Source: ONNX Concat-13 (more than 8 operands: a tree of concats).
    """

    traits = frozenset({Trait.MOVEMENT})
    inputs: Sequence[Operand[AnyTensor]]
    axis: ir.IntegerAttr
    out: Result[AnyTensor]

    @staticmethod
    def infer(inputs: Sequence[TensorType], *, axis: int) -> TensorType:
        if not inputs:
            raise ValueError("needs at least one operand")
        check_same_element(**{f"inputs[{i}]": kind for i, kind in enumerate(inputs)})
        shape = list(inputs[0].shape)
        check_axis(axis, len(shape))
        for kind in inputs[1:]:
            others = list(kind.shape)
            if len(others) != len(shape) or others[:axis] + others[axis + 1 :] != shape[:axis] + shape[axis + 1 :]:
                raise ValueError(f"tensor<{inputs[0]}> and tensor<{kind}> differ in more than axis {axis}")
        shape[axis] = sum(kind.shape[axis] for kind in inputs)
        return inputs[0].with_shape(*shape)

    @staticmethod
    def reference(inputs: Sequence[np.ndarray], *, axis: int) -> np.ndarray:
        return np.concatenate(inputs, axis=axis)


class InsertOp(AiDialect.Operation, name="insert"):
    """Put a tensor in its place in a larger one: out is `into` but for the elements `start` ... along `axis`.

    Shapes: out and `into` have `size` elements along `axis`, of which input has a part; else they are as input is.
    Without `into`, elements that input does not give are 0 here; nobody may rely on that: a kernel leaves them as its
    buffer has them. Types: any, the same for all.
    Errors: axis out of range; a part that does not lie within `size`; another shape of `into`.
    Source: ONNX Concat; `ai-place-parts` makes chains of inserts of it, so that producers write where readers look.
    """

    traits = frozenset({Trait.MOVEMENT})
    input: Operand[AnyTensor]
    into: Operand[AnyTensor] | None
    axis: ir.IntegerAttr
    start: ir.IntegerAttr
    size: ir.IntegerAttr
    out: Result[AnyTensor]

    @staticmethod
    def infer(input: TensorType, into: TensorType | None, *, axis: int, start: int, size: int) -> TensorType:
        check_axis(axis, input.rank)
        if start < 0 or start + input.shape[axis] > size:
            raise ValueError(f"{input.shape[axis]} elements from {start} on do not lie within {size}")
        out = input.with_shape(*input.shape[:axis], size, *input.shape[axis + 1 :])
        if into is not None and into != out:
            raise ValueError(f"into is tensor<{into}>, but the result is tensor<{out}>")
        return out

    @staticmethod
    def reference(input: np.ndarray, into: np.ndarray | None, *, axis: int, start: int, size: int) -> np.ndarray:
        shape = (*input.shape[:axis], size, *input.shape[axis + 1 :])
        out = np.zeros(shape, input.dtype) if into is None else into.copy()
        out[(slice(None),) * axis + (slice(start, start + input.shape[axis]),)] = input
        return out


class BroadcastToOp(AiDialect.Operation, name="broadcast_to"):
    """Repeat along dimensions of size 1, and new leading ones, as numpy does.

    Shapes: input broadcasts to `shape`. Types: any.
    Errors: a shape that input does not broadcast to.
    Source: ONNX Expand-13 (where input and shape broadcast both ways, the importer computes `shape`).
    """

    traits = frozenset({Trait.MOVEMENT})
    input: Operand[AnyTensor]
    shape: ir.DenseI64ArrayAttr
    out: Result[AnyTensor]

    @staticmethod
    def infer(input: TensorType, *, shape: list[int]) -> TensorType:
        check_at_least("shape", shape, 0)
        if broadcast(input.shape, tuple(shape)) != tuple(shape):
            raise ValueError(f"tensor<{input}> does not broadcast to the shape {list(shape)}")
        return input.with_shape(*shape)

    @staticmethod
    def reference(input: np.ndarray, *, shape: list[int]) -> np.ndarray:
        return np.broadcast_to(input, shape).copy()
