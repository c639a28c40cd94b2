"""Transposed convolution."""

from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import (
    check_accumulator,
    check_at_least,
    check_bias,
    check_length,
    check_same_element,
    result_element,
)
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import quiet
from aiopt.dialects.constraints import FloatTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType, numpy_dtype


class ConvTransposeOp(AiDialect.Operation, name="conv_transpose"):
    """Add each input element, times the kernel, to the window of the output it stands for; then cut `pads` off.

    Element i of a spatial dimension and tap k meet at output position i * stride + k * dilation - begin pad.

    Shapes: input [N, C, *spatial], weight [C, O/group, *kernel], bias [O] (optional) -> out [N, O, *counts], where
    counts = (size - 1) * stride + (kernel - 1) * dilation + 1 + output_pad - begin - end. pads: all begins, then all
    ends; output_pads: what the end has more than windows reach.
    Types: floats, the same for all; sums are kept in `acc` (default f32, f64 for f64), which `to` gives as result.
    Errors: ranks, channels or groups that do not fit; nothing left of a dimension; acc too narrow.
    Source: ONNX ConvTranspose-11 (auto_pad, output_shape and negative pads are the importer's work).
    """

    traits = frozenset({Trait.CONTRACTION})
    input: Operand[FloatTensor]
    weight: Operand[FloatTensor]
    bias: Operand[FloatTensor] | None
    strides: ir.DenseI64ArrayAttr
    pads: ir.DenseI64ArrayAttr
    output_pads: ir.DenseI64ArrayAttr
    dilations: ir.DenseI64ArrayAttr
    group: ir.IntegerAttr
    acc: ir.TypeAttr
    to: ir.TypeAttr | None
    out: Result[FloatTensor]

    @classmethod
    def defaults(cls, input: TensorType, *_: object, **__: object) -> dict[str, Any]:
        rank = input.rank - 2
        window = {"strides": [1] * rank, "pads": [0] * (2 * rank), "output_pads": [0] * rank, "dilations": [1] * rank}
        return {**window, "group": 1, "acc": "f64" if input.element == "f64" else "f32"}

    @staticmethod
    def infer(
        input: TensorType,
        weight: TensorType,
        bias: TensorType | None,
        *,
        strides: list[int],
        pads: list[int],
        output_pads: list[int],
        dilations: list[int],
        group: int,
        acc: str,
        to: str | None = None,
    ) -> TensorType:
        check_same_element(input=input, weight=weight)
        check_accumulator(acc, input.element)
        check_bias(bias, input.element, acc)
        check_at_least("group", [group], 1)
        rank = input.rank - 2
        if not 1 <= rank <= 3 or weight.rank != input.rank:
            raise ValueError(f"input and weight must have one rank of 3 to 5, but have {input.rank} and {weight.rank}")
        numbers = {"strides": strides, "pads": pads, "output_pads": output_pads, "dilations": dilations}
        for name, values in numbers.items():
            check_length(name, values, 2 * rank if name == "pads" else rank)
            check_at_least(name, values, 1 if name in ("strides", "dilations") else 0)
        channels, filters = input.shape[1], weight.shape[1] * group
        if weight.shape[0] != channels or channels % group:
            raise ValueError(
                f"{channels} input channels in {group} groups need whole groups and a weight of [{channels}, ...], "
                f"but the weight is tensor<{weight}>"
            )
        if bias is not None and bias.shape != (filters,):
            raise ValueError(f"the bias must have the shape [{filters}], but has {list(bias.shape)}")
        counts = []
        for i, (size, kernel) in enumerate(zip(input.shape[2:], weight.shape[2:], strict=True)):
            full = (size - 1) * strides[i] + (kernel - 1) * dilations[i] + 1 + output_pads[i]
            if min(size, kernel) < 1 or full - pads[i] - pads[rank + i] < 1:
                raise ValueError(f"spatial dimension {i}: nothing is left of {full} elements after pads {pads}")
            counts.append(full - pads[i] - pads[rank + i])
        return TensorType((input.shape[0], filters, *counts), result_element(to, input.element, acc))

    @staticmethod
    @quiet
    def reference(
        input: np.ndarray,
        weight: np.ndarray,
        bias: np.ndarray | None,
        *,
        strides: list[int],
        pads: list[int],
        output_pads: list[int],
        dilations: list[int],
        group: int,
        acc: str,
        to: str | None = None,
    ) -> np.ndarray:
        wide, rank = numpy_dtype(acc), input.ndim - 2
        spatial, kernel = input.shape[2:], weight.shape[2:]
        reach = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(spatial, strides, kernel, dilations, strict=True)]
        full = [size + extra for size, extra in zip(reach, output_pads, strict=True)]
        out = np.zeros((input.shape[0], weight.shape[1] * group, *full), wide)
        parts = zip(
            np.split(input.astype(wide), group, axis=1), np.split(weight.astype(wide), group), np.split(out, group, 1),
            strict=True,
        )  # fmt: skip
        for x, w, target in parts:
            for tap in np.ndindex(*kernel):
                at = [slice(k * d, k * d + (n - 1) * s + 1, s)
                      for k, d, n, s in zip(tap, dilations, spatial, strides, strict=True)]  # fmt: skip
                products = np.tensordot(x, w[(slice(None), slice(None), *tap)], (1, 0))
                target[(slice(None), slice(None), *at)] += np.moveaxis(products, -1, 1)
        kept = [slice(pads[i], full[i] - pads[rank + i]) for i in range(rank)]
        out = out[(slice(None), slice(None), *kept)]
        if bias is not None:
            out = out + bias.astype(wide).reshape(-1, *[1] * rank)
        return np.ascontiguousarray(out.astype(numpy_dtype(to) if to else input.dtype))

    @staticmethod
    def flops(input: TensorType, weight: TensorType, bias: TensorType | None, **attributes: Any) -> int:
        out = ConvTransposeOp.infer(input, weight, bias, **attributes)
        taps = weight.size // max(weight.shape[0], 1)  # filters of a group times kernel
        return 2 * input.size * taps + (0 if bias is None else out.size)
