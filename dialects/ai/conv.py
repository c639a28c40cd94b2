"""Convolution."""

import math
from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import (
    check_accumulator,
    check_bias,
    check_packed_type,
    check_packing,
    check_same_element,
    conv_shape,
    default_accumulator,
    result_element,
)
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import convolve, pad, quiet
from aiopt.dialects.ai.packing import (
    array_channels_first,
    array_in_layout,
    channels_first,
    check_interleave,
    deinterleaved,
    in_layout,
    packed_filters,
    unpack_filters,
    unpacked_filters,
)
from aiopt.dialects.ai.winograd import SIZES, TAPS, restore_filters
from aiopt.dialects.constraints import FloatTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType, numpy_dtype


def _plain_filters(
    weight: TensorType, group: int, pack: int | None, filters: int | None, winograd: int | None
) -> TensorType:
    """The type of the weight before packing."""
    check_packing("filters", pack, filters)
    if winograd is not None and (winograd not in SIZES or pack is None or group != 1):
        raise ValueError(f"winograd is {' or '.join(map(str, SIZES))}, for a packed weight of one group")
    if pack is None or filters is None:
        return weight
    if weight.rank < 4:
        raise ValueError(f"a packed weight must have rank 4 or more, but has {weight.rank}")
    plain = unpacked_filters(weight, filters)
    check_packed_type("weight", weight, packed_filters(plain, max(group, 1), pack))
    if winograd is None:
        return plain
    if plain.shape[2:] != (winograd + TAPS - 1,) * 2:
        raise ValueError(f"the kernel of a weight for winograd = {winograd} is not {list(plain.shape[2:])}")
    return plain.with_shape(*plain.shape[:2], TAPS, TAPS)


class ConvOp(AiDialect.Operation, name="conv"):
    """Convolve (cross-correlate) over 1 to 3 spatial dimensions, with zeros around the input.

    Shapes: input [N, C, *spatial], weight [O, C/group, *kernel], bias [O] (optional) -> out [N, O, *counts], where
    counts = (begin + size + end - ((kernel - 1) * dilation + 1)) // stride + 1. pads: all begins, then all ends.
    With `layout` = "channels_last", input and out are [N, *spatial, C]. With `pack` = nr and `filters` = O, weight is
    [blocks, *kernel, C/group, nr], in pairs with `interleave` (see packing.py). With `winograd` = m, 2 or 4, it holds
    3x3 filters transformed for tiles of m x m pixels, [blocks, m + 2, m + 2, C, nr] (see winograd.py); strides and
    dilations are 1.
    Types: floats, the same for all; sums are kept in `acc` (default f32, f64 for f64), which the bias may have too, and
    which `to` gives as result.
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
    to: ir.TypeAttr | None
    layout: ir.StringAttr | None
    pack: ir.IntegerAttr | None
    filters: ir.IntegerAttr | None
    interleave: ir.IntegerAttr | None
    winograd: ir.IntegerAttr | None
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, input: TensorType, weight: TensorType, bias: TensorType | None, **_: object) -> dict[str, Any]:
        rank = input.rank - 2
        window = {"strides": [1] * rank, "pads": [0] * (2 * rank), "dilations": [1] * rank}
        return {**window, "group": 1, "acc": default_accumulator(input.element)}

    @staticmethod
    def infer(
        input: TensorType,
        weight: TensorType,
        bias: TensorType | None,
        *,
        group: int,
        acc: str,
        to: str | None = None,
        layout: str | None = None,
        pack: int | None = None,
        filters: int | None = None,
        interleave: int | None = None,
        winograd: int | None = None,
        **window: list[int],
    ) -> TensorType:
        input, weight = channels_first(input, layout), _plain_filters(weight, group, pack, filters, winograd)
        if winograd is not None and {*window["strides"], *window["dilations"]} != {1}:
            raise ValueError("winograd takes strides and dilations of 1")
        check_interleave(interleave, pack, weight.shape[1] if weight.rank > 1 else 0)
        check_same_element(input=input, weight=weight)
        check_accumulator(acc, input.element)
        check_bias(bias, input.element, acc)
        shape = conv_shape(input, weight, group, window)
        if bias is not None and bias.shape != shape[1:2]:
            raise ValueError(f"the bias must have the shape [{shape[1]}], but has {list(bias.shape)}")
        return in_layout(TensorType(tuple(shape), result_element(to, input.element, acc)), layout)

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
        to: str | None = None,
        layout: str | None = None,
        pack: int | None = None,
        filters: int | None = None,
        interleave: int | None = None,
        winograd: int | None = None,
    ) -> np.ndarray:
        input = array_channels_first(input, layout)
        if pack is not None and filters is not None:
            weight = unpack_filters(weight if interleave is None else deinterleaved(weight), filters, group)
        if winograd is not None:
            weight = restore_filters(weight, winograd)
        wide = numpy_dtype(acc)
        padded = pad(input.astype(wide), pads, 0)
        sums = convolve(padded, weight.astype(wide), strides=strides, dilations=dilations, group=group)
        out = sums if bias is None else sums + bias.astype(wide).reshape(-1, *[1] * (sums.ndim - 2))
        return array_in_layout(out.astype(numpy_dtype(to) if to else input.dtype), layout)

    @staticmethod
    def flops(input: TensorType, weight: TensorType, bias: TensorType | None, **attributes: Any) -> int:
        out = ConvOp.infer(input, weight, bias, **attributes)
        packing = [attributes.get(key) for key in ("pack", "filters", "winograd")]
        plain = _plain_filters(weight, attributes["group"], *packing)
        return 2 * out.size * math.prod(plain.shape[1:]) + (0 if bias is None else out.size)
