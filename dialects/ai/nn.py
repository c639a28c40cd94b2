"""Contractions and normalisation."""

import math
from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import (
    broadcast,
    check_accumulator,
    check_at_least,
    check_axis,
    check_bias,
    check_packed_type,
    check_packing,
    check_same_element,
    window_counts,
)
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import pad, quiet, widen, windows
from aiopt.dialects.ai.packing import (
    array_channels_first,
    array_in_layout,
    channels_first,
    in_layout,
    packed_columns,
    packed_filters,
    unpack_columns,
    unpack_filters,
    unpacked_filters,
)
from aiopt.dialects.constraints import FloatTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType, numpy_dtype


def _default_accumulator(element: str) -> str:
    return "f64" if element == "f64" else "f32"


def _plain_filters(weight: TensorType, group: int, pack: int | None, filters: int | None) -> TensorType:
    """The type of the weight before packing."""
    check_packing("filters", pack, filters)
    if pack is None or filters is None:
        return weight
    if weight.rank < 4:
        raise ValueError(f"a packed weight must have rank 4 or more, but has {weight.rank}")
    plain = unpacked_filters(weight, filters)
    check_packed_type("weight", weight, packed_filters(plain, max(group, 1), pack))
    return plain


class MatMulOp(AiDialect.Operation, name="matmul"):
    """Multiply matrices.

    Shapes: lhs [..., m, k], rhs [..., k, n] -> out [..., m, n]; leading dimensions broadcast.
    With `pack` = nr and `columns` = n, rhs is [..., ceil(n / nr), k, nr] (see packing.py).
    Types: floats, the same for all; sums are kept in `acc` (default f32, f64 for f64).
    Errors: rank below 2; differing k or element types; leading dimensions that do not broadcast; acc too narrow.
    Source: ONNX MatMul-13 (operands of rank 1 are the importer's work).
    """

    traits = frozenset({Trait.CONTRACTION})
    lhs: Operand[FloatTensor]
    rhs: Operand[FloatTensor]
    acc: ir.TypeAttr
    pack: ir.IntegerAttr | None
    columns: ir.IntegerAttr | None
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, lhs: TensorType, rhs: TensorType, **_: object) -> dict[str, Any]:
        return {"acc": _default_accumulator(lhs.element)}

    @staticmethod
    def infer(
        lhs: TensorType, rhs: TensorType, *, acc: str, pack: int | None = None, columns: int | None = None
    ) -> TensorType:
        check_packing("columns", pack, columns)
        if pack is not None and columns is not None:
            if rhs.rank < 3:
                raise ValueError(f"a packed rhs must have rank 3 or more, but has {rhs.rank}")
            plain = rhs.with_shape(*rhs.shape[:-3], rhs.shape[-2], columns)
            check_packed_type("rhs", rhs, packed_columns(plain, pack))
            rhs = plain
        check_same_element(lhs=lhs, rhs=rhs)
        check_accumulator(acc, lhs.element)
        if min(lhs.rank, rhs.rank) < 2:
            raise ValueError(f"both operands must have rank 2 or more, but have {lhs.rank} and {rhs.rank}")
        if lhs.shape[-1] != rhs.shape[-2]:
            raise ValueError(f"the inner dimensions {lhs.shape[-1]} and {rhs.shape[-2]} differ")
        lead = broadcast(lhs.shape[:-2], rhs.shape[:-2])
        return lhs.with_shape(*lead, lhs.shape[-2], rhs.shape[-1])

    @staticmethod
    @quiet
    def reference(
        lhs: np.ndarray, rhs: np.ndarray, *, acc: str, pack: int | None = None, columns: int | None = None
    ) -> np.ndarray:
        if pack is not None and columns is not None:
            rhs = unpack_columns(rhs, columns)
        wide = numpy_dtype(acc)
        return np.matmul(lhs.astype(wide), rhs.astype(wide)).astype(lhs.dtype)

    @staticmethod
    def flops(lhs: TensorType, rhs: TensorType, **attributes: Any) -> int:
        return 2 * MatMulOp.infer(lhs, rhs, **attributes).size * lhs.shape[-1]


class ConvOp(AiDialect.Operation, name="conv"):
    """Convolve (cross-correlate) over 1 to 3 spatial dimensions, with zeros around the input.

    Shapes: input [N, C, *spatial], weight [O, C/group, *kernel], bias [O] (optional) -> out [N, O, *counts], where
    counts = (begin + size + end - ((kernel - 1) * dilation + 1)) // stride + 1. pads: all begins, then all ends.
    With `layout` = "channels_last", input and out are [N, *spatial, C]. With `pack` = nr and `filters` = O, weight is
    [blocks, *kernel, C/group, nr] (see packing.py).
    Types: floats, the same for all; sums are kept in `acc` (default f32, f64 for f64), which the bias may have too.
    Errors: ranks, channels or groups that do not fit; a window larger than the padded input; acc too narrow.
    Source: ONNX Conv-11 (auto_pad and negative pads are the importer's work).
    """

    traits = frozenset({Trait.CONTRACTION})
    input: Operand[FloatTensor]
    weight: Operand[FloatTensor]
    bias: Operand[FloatTensor] | None
    strides: ir.DenseI64ArrayAttr
    pads: ir.DenseI64ArrayAttr
    dilations: ir.DenseI64ArrayAttr
    group: ir.IntegerAttr
    acc: ir.TypeAttr
    layout: ir.StringAttr | None
    pack: ir.IntegerAttr | None
    filters: ir.IntegerAttr | None
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, input: TensorType, weight: TensorType, bias: TensorType | None, **_: object) -> dict[str, Any]:
        rank = input.rank - 2
        window = {"strides": [1] * rank, "pads": [0] * (2 * rank), "dilations": [1] * rank}
        return {**window, "group": 1, "acc": _default_accumulator(input.element)}

    @staticmethod
    def infer(
        input: TensorType,
        weight: TensorType,
        bias: TensorType | None,
        *,
        group: int,
        acc: str,
        layout: str | None = None,
        pack: int | None = None,
        filters: int | None = None,
        **window: list[int],
    ) -> TensorType:
        input, weight = channels_first(input, layout), _plain_filters(weight, group, pack, filters)
        check_same_element(input=input, weight=weight)
        check_accumulator(acc, input.element)
        check_bias(bias, input.element, acc)
        check_at_least("group", [group], 1)
        if weight.rank != input.rank:
            raise ValueError(f"input and weight must have one rank, but have {input.rank} and {weight.rank}")
        counts = window_counts(input.shape[2:], kernel=weight.shape[2:], **window)
        channels, outputs = input.shape[1], weight.shape[0]
        if channels != weight.shape[1] * group or outputs % group:
            raise ValueError(
                f"{channels} input channels and {outputs} filters in {group} groups need a weight of "
                f"[{outputs}, {channels} / {group}, ...] and whole groups, but the weight is tensor<{weight}>"
            )
        if bias is not None and bias.shape != (outputs,):
            raise ValueError(f"the bias must have the shape [{outputs}], but has {list(bias.shape)}")
        return in_layout(input.with_shape(input.shape[0], outputs, *counts), layout)

    @staticmethod
    @quiet
    def reference(
        input: np.ndarray,
        weight: np.ndarray,
        bias: np.ndarray | None,
        *,
        strides: list[int],
        pads: list[int],
        dilations: list[int],
        group: int,
        acc: str,
        layout: str | None = None,
        pack: int | None = None,
        filters: int | None = None,
    ) -> np.ndarray:
        input = array_channels_first(input, layout)
        if pack is not None and filters is not None:
            weight = unpack_filters(weight, filters, group)
        wide = numpy_dtype(acc)
        kernel = weight.shape[2:]
        padded = pad(input.astype(wide), pads, 0)
        patches = windows(padded, kernel=kernel, strides=strides, dilations=dilations)
        axes = [1, *range(input.ndim, patches.ndim)], [1, *range(2, weight.ndim)]
        groups = zip(np.split(patches, group, axis=1), np.split(weight.astype(wide), group), strict=True)
        sums = np.concatenate([np.tensordot(patch, part, axes) for patch, part in groups], axis=-1)
        out = sums if bias is None else sums + bias.astype(wide)
        return array_in_layout(np.moveaxis(out, -1, 1).astype(input.dtype), layout)

    @staticmethod
    def flops(input: TensorType, weight: TensorType, bias: TensorType | None, **attributes: Any) -> int:
        out = ConvOp.infer(input, weight, bias, **attributes)
        plain = _plain_filters(weight, attributes["group"], attributes.get("pack"), attributes.get("filters"))
        return 2 * out.size * math.prod(plain.shape[1:]) + (0 if bias is None else out.size)


class BatchNormOp(AiDialect.Operation, name="batch_norm"):
    """Normalise each channel by given statistics: (input - mean) / sqrt(variance + epsilon) * scale + bias.

    Shapes: input [N, C, ...], scale, bias, mean, variance [C] -> out as input. With `layout` = "channels_last", input
    and out are [N, ..., C].
    Types: floats, the same for all; f16 is computed in f32.
    Errors: rank below 2; parameters of another shape or element type.
    Source: ONNX BatchNormalization-15 with training_mode = 0.
    """

    traits = frozenset({Trait.NORMALIZATION})
    input: Operand[FloatTensor]
    scale: Operand[FloatTensor]
    bias: Operand[FloatTensor]
    mean: Operand[FloatTensor]
    variance: Operand[FloatTensor]
    epsilon: ir.FloatAttr
    layout: ir.StringAttr | None
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, *operands: TensorType, **_: object) -> dict[str, Any]:
        return {"epsilon": 1e-5}

    @staticmethod
    def infer(
        input: TensorType,
        scale: TensorType,
        bias: TensorType,
        mean: TensorType,
        variance: TensorType,
        *,
        epsilon: float,
        layout: str | None = None,
    ) -> TensorType:
        parameters = {"scale": scale, "bias": bias, "mean": mean, "variance": variance}
        check_same_element(input=input, **parameters)
        if input.rank < 2:
            raise ValueError(f"the input must have the shape [N, C, ...], but has {list(input.shape)}")
        channels = channels_first(input, layout).shape[1]
        for name, kind in parameters.items():
            if kind.shape != (channels,):
                raise ValueError(f"{name} must have the shape [{channels}], but has {list(kind.shape)}")
        return input

    @staticmethod
    @quiet
    def reference(
        input: np.ndarray,
        scale: np.ndarray,
        bias: np.ndarray,
        mean: np.ndarray,
        variance: np.ndarray,
        *,
        epsilon: float,
        layout: str | None = None,
    ) -> np.ndarray:
        shape = (-1, *[1] * (input.ndim - 2)) if layout is None else (-1,)
        scale, bias, mean, variance = (widen(p).reshape(shape) for p in (scale, bias, mean, variance))
        out = (widen(input) - mean) / np.sqrt(variance + epsilon) * scale + bias
        return out.astype(input.dtype)

    @staticmethod
    def flops(input: TensorType, *parameters: TensorType, epsilon: float, layout: str | None = None) -> int:
        return 2 * input.size  # a scale and a shift for each element; the parameters fold into these two


class SoftmaxOp(AiDialect.Operation, name="softmax"):
    """out = e^input / sum of e^input along `axis`, computed on input - max.

    Shapes: as input. Types: floats; f16 is computed in f32.
    Errors: axis out of range (it counts from the front).
    Source: ONNX Softmax-13 (the two-dimensional one of older opsets is the importer's work).
    """

    traits = frozenset({Trait.NORMALIZATION})
    input: Operand[FloatTensor]
    axis: ir.IntegerAttr
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, input: TensorType, **_: object) -> dict[str, Any]:
        return {"axis": input.rank - 1}

    @staticmethod
    def infer(input: TensorType, *, axis: int) -> TensorType:
        check_axis(axis, input.rank)
        return input

    @staticmethod
    @quiet
    def reference(input: np.ndarray, *, axis: int) -> np.ndarray:
        wide = widen(input)
        powers = np.exp(wide - np.max(wide, axis=axis, keepdims=True, initial=-np.inf))
        return (powers / np.sum(powers, axis=axis, keepdims=True)).astype(input.dtype)

    @staticmethod
    def flops(input: TensorType, *, axis: int) -> int:
        return 5 * input.size  # max, subtract, exp, sum, divide
