"""A border around a tensor."""

from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import check_at_least, check_length
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.constraints import AnyTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType

PAD_MODES = ("constant", "edge", "reflect", "wrap")


class PadOp(AiDialect.Operation, name="pad"):
    """Surround with `low` elements before and `high` after each dimension.

    They are `value` (constant; 0 if it is absent), the nearest element (edge), the elements mirrored on the first and
    last one, back and forth (reflect), or the elements over again (wrap).

    Shapes: out.shape[i] = low[i] + input.shape[i] + high[i]; value is a scalar. Types: any; value as input.
    Errors: lengths that do not fit; negative numbers; an unknown mode; a value beside another mode than constant;
    nothing to repeat in a dimension without elements.
    Source: ONNX Pad-25 (negative pads and axes are the importer's work).
    """

    traits = frozenset({Trait.MOVEMENT})
    input: Operand[AnyTensor]
    value: Operand[AnyTensor] | None
    low: ir.DenseI64ArrayAttr
    high: ir.DenseI64ArrayAttr
    mode: ir.StringAttr
    out: Result[AnyTensor]

    @classmethod
    def defaults(cls, *operands: TensorType | None, **_: object) -> dict[str, Any]:
        return {"mode": "constant"}

    @staticmethod
    def infer(
        input: TensorType, value: TensorType | None = None, *, low: list[int], high: list[int], mode: str
    ) -> TensorType:
        for name, numbers in (("low", low), ("high", high)):
            check_length(name, numbers, input.rank)
            check_at_least(name, numbers, 0)
        if mode not in PAD_MODES:
            raise ValueError(f"mode must be one of {', '.join(PAD_MODES)}, not '{mode}'")
        if value is not None and (mode != "constant" or value != TensorType((), input.element)):
            raise ValueError(f"value must be a scalar of {input.element} for mode constant, but is {value} for {mode}")
        for size, before, after in zip(input.shape, low, high, strict=True):
            if mode != "constant" and size == 0 and before + after:
                raise ValueError(f"mode {mode} has nothing to repeat in a dimension of size 0")
        return input.with_shape(*(a + size + b for size, a, b in zip(input.shape, low, high, strict=True)))

    @staticmethod
    def reference(
        input: np.ndarray, value: np.ndarray | None = None, *, low: list[int], high: list[int], mode: str
    ) -> np.ndarray:
        if mode == "constant":
            shape = [a + size + b for size, a, b in zip(input.shape, low, high, strict=True)]
            out = np.full(shape, 0 if value is None else value, input.dtype)
            out[tuple(slice(a, a + size) for size, a in zip(input.shape, low, strict=True))] = input
            return out
        for axis, (before, after) in enumerate(zip(low, high, strict=True)):
            if before + after:
                input = np.take(input, _places(input.shape[axis], before, after, mode), axis)
        return input.copy()


def _places(size: int, before: int, after: int, mode: str) -> np.ndarray:
    """The element that stands at each place of a padded dimension."""
    at = np.arange(-before, size + after)
    if mode == "edge":
        return at.clip(0, size - 1)
    if mode == "wrap":
        return at % size
    period = max(2 * (size - 1), 1)
    return np.minimum(at % period, -at % period)
