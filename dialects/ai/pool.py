"""Pooling: fold each window of the input."""

import math
from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import window_counts
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import lowest, pad, quiet, widen, windows
from aiopt.dialects.ai.packing import array_channels_first, array_in_layout, channels_first, in_layout
from aiopt.dialects.constraints import FloatTensor, IndexTensor, NumericTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType


def _infer(input: TensorType, layout: str | None, **window: list[int]) -> TensorType:
    input = channels_first(input, layout)
    if input.rank < 3:
        raise ValueError(f"the input must have the shape [N, C, *spatial], but has {list(input.shape)}")
    counts = window_counts(input.shape[2:], **window)
    kernel, pads, dilations = window["kernel"], window["pads"], window["dilations"]
    for i, amount in enumerate(pads):
        extent = (kernel[i % len(kernel)] - 1) * dilations[i % len(kernel)] + 1
        if amount >= extent:
            raise ValueError(f"pads must be smaller than the window ({extent}), but are {pads}")
    return in_layout(input.with_shape(*input.shape[:2], *counts), layout)


class MaxPoolOp(AiDialect.Operation, name="max_pool"):
    """The largest element of each window; NaN if the window holds one. Padding never wins.

    Shapes: input [N, C, *spatial] -> out [N, C, *counts], counts as for `ai.conv`. pads: all begins, then all ends.
    With `layout` = "channels_last", both are [N, *spatial, C].
    Types: numbers. A window of padding alone gives -inf, or the lowest integer.
    Errors: attributes whose length does not fit; a window larger than the padded input; pads as large as the window.
    Source: ONNX MaxPool-12 without Indices (ceil_mode and auto_pad are the importer's work).
    """

    traits = frozenset({Trait.POOLING})
    input: Operand[NumericTensor]
    kernel: ir.DenseI64ArrayAttr
    strides: ir.DenseI64ArrayAttr
    pads: ir.DenseI64ArrayAttr
    dilations: ir.DenseI64ArrayAttr
    layout: ir.StringAttr | None
    out: Result[NumericTensor]

    @classmethod
    def defaults(cls, input: TensorType, *, kernel: list[int], **_: object) -> dict[str, Any]:
        rank = len(kernel)
        return {"strides": [1] * rank, "pads": [0] * (2 * rank), "dilations": [1] * rank}

    @staticmethod
    def infer(
        input: TensorType,
        *,
        kernel: list[int],
        strides: list[int],
        pads: list[int],
        dilations: list[int],
        layout: str | None = None,
    ) -> TensorType:
        return _infer(input, layout, kernel=kernel, strides=strides, pads=pads, dilations=dilations)

    @staticmethod
    def reference(
        input: np.ndarray,
        *,
        kernel: list[int],
        strides: list[int],
        pads: list[int],
        dilations: list[int],
        layout: str | None = None,
    ) -> np.ndarray:
        padded = pad(array_channels_first(input, layout), pads, lowest(input.dtype))
        patches = windows(padded, kernel=kernel, strides=strides, dilations=dilations)
        return array_in_layout(np.max(patches, axis=tuple(range(input.ndim, patches.ndim))), layout)

    @staticmethod
    def flops(input: TensorType, *, kernel: list[int], **attributes: Any) -> int:
        return MaxPoolOp.infer(input, kernel=kernel, **attributes).size * math.prod(kernel)


class MaxPoolPlacesOp(AiDialect.Operation, name="max_pool_places"):
    """Of each window the place of the first element, in row-major order, that `ai.max_pool` takes.

    A place is counted in row-major order over the spatial dimensions of the element's channel. Padding has none; a
    window of nothing else gives -1.

    Shapes: input [N, C, *spatial] -> out [N, C, *counts], as for `ai.max_pool`. Types: numbers; out i64.
    Errors: as `ai.max_pool`.
    Source: ONNX MaxPool-12, Indices (storage_order and the channels before are the importer's work).
    """

    traits = frozenset({Trait.POOLING})
    input: Operand[NumericTensor]
    kernel: ir.DenseI64ArrayAttr
    strides: ir.DenseI64ArrayAttr
    pads: ir.DenseI64ArrayAttr
    dilations: ir.DenseI64ArrayAttr
    out: Result[IndexTensor]

    @classmethod
    def defaults(cls, input: TensorType, *, kernel: list[int], **_: object) -> dict[str, Any]:
        return MaxPoolOp.defaults(input, kernel=kernel)

    @staticmethod
    def infer(input: TensorType, **window: list[int]) -> TensorType:
        return TensorType(_infer(input, None, **window).shape, "i64")

    @staticmethod
    def reference(
        input: np.ndarray, *, kernel: list[int], strides: list[int], pads: list[int], dilations: list[int]
    ) -> np.ndarray:
        largest = MaxPoolOp.reference(input, kernel=kernel, strides=strides, pads=pads, dilations=dilations)
        names, top = {"kernel": kernel, "strides": strides, "dilations": dilations}, largest[..., None]
        places = np.arange(math.prod(input.shape[2:])).reshape(1, 1, *input.shape[2:])
        taps = (*top.shape[2:-1], math.prod(kernel))
        chosen = windows(pad(places, pads, -1), **names).reshape(1, 1, *taps)
        patches = windows(pad(input, pads, 0), **names).reshape(*top.shape[:2], *taps)
        hit = ((patches == top) | ((patches != patches) & (top != top))) & (chosen >= 0)
        first = np.take_along_axis(np.broadcast_to(chosen, hit.shape), hit.argmax(-1)[..., None], -1)[..., 0]
        return np.where(hit.any(-1), first, -1)

    @staticmethod
    def flops(input: TensorType, *, kernel: list[int], **attributes: Any) -> int:
        return 2 * MaxPoolOp.flops(input, kernel=kernel, **attributes)


class AvgPoolOp(AiDialect.Operation, name="avg_pool"):
    """The mean of each window, over its elements inside the input or (count_include_pad) over all of the window.

    Shapes: input [N, C, *spatial] -> out [N, C, *counts], counts as for `ai.conv`. pads: all begins, then all ends.
    With `layout` = "channels_last", both are [N, *spatial, C]. Absent dilations are 1.
    Types: floats; f16 is summed in f32, in row-major order.
    Errors: attributes whose length does not fit; a window larger than the padded input; pads as large as the window.
    Source: ONNX AveragePool-19 (ceil_mode and auto_pad are the importer's work).
    """

    traits = frozenset({Trait.POOLING})
    input: Operand[FloatTensor]
    kernel: ir.DenseI64ArrayAttr
    strides: ir.DenseI64ArrayAttr
    pads: ir.DenseI64ArrayAttr
    count_include_pad: ir.BoolAttr
    dilations: ir.DenseI64ArrayAttr | None
    layout: ir.StringAttr | None
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, input: TensorType, *, kernel: list[int], **_: object) -> dict[str, Any]:
        return {"strides": [1] * len(kernel), "pads": [0] * (2 * len(kernel)), "count_include_pad": False}

    @staticmethod
    def infer(
        input: TensorType,
        *,
        kernel: list[int],
        strides: list[int],
        pads: list[int],
        count_include_pad: bool,
        dilations: list[int] | None = None,
        layout: str | None = None,
    ) -> TensorType:
        dilations = dilations or [1] * len(kernel)
        return _infer(input, layout, kernel=kernel, strides=strides, pads=pads, dilations=dilations)

    @staticmethod
    @quiet
    def reference(
        input: np.ndarray,
        *,
        kernel: list[int],
        strides: list[int],
        pads: list[int],
        count_include_pad: bool,
        dilations: list[int] | None = None,
        layout: str | None = None,
    ) -> np.ndarray:
        input = array_channels_first(input, layout)

        def fold(array: np.ndarray, outside: float) -> np.ndarray:
            taps = dilations or [1] * len(kernel)
            patches = windows(pad(array, pads, outside), kernel=kernel, strides=strides, dilations=taps)
            return sum((patches[(..., *tap)] for tap in np.ndindex(*kernel)), start=patches.dtype.type(0))

        wide = widen(input)
        counts = fold(np.ones((1, 1, *input.shape[2:]), wide.dtype), float(count_include_pad))
        return array_in_layout((fold(wide, 0) / counts).astype(input.dtype), layout)

    @staticmethod
    def flops(input: TensorType, *, kernel: list[int], **attributes: Any) -> int:
        return AvgPoolOp.infer(input, kernel=kernel, **attributes).size * math.prod(kernel)
