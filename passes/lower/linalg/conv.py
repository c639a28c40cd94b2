"""conv as linalg.generic, in either layout, dense, grouped or depthwise, its weights plain or packed.

Loop order (the contract with the schedules, see contraction.py): channels_first (n, channels, o..., sums, last o),
channels_last (n, o..., outer channels, sums, channels), so that the innermost loop walks the result by unit stride.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import tensor

from aiopt.dialects import ai
from aiopt.dialects.ext import describe, type_of
from aiopt.passes.lower.linalg.builder import (
    PARALLEL,
    REDUCTION,
    Body,
    dims,
    empty,
    filled,
    generic,
    tensor_type,
    zero,
)
from aiopt.passes.lower.linalg.contraction import (
    check_whole_blocks,
    multiply_add,
    pad,
    rounded,
    split_axis,
    split_groups,
)
from aiopt.passes.lower.linalg.elementwise import cast
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.errors import UnsupportedError
from aiopt.support.types import TensorType


@dataclass(frozen=True)
class Channels:
    """How a convolution goes over channels: loops by name, and what indexes each array.

    In `weight`, "k" stands for the loops over the kernel and "0" for index 0.
    """

    kept: tuple[str, ...]  # loops over the channels of the result
    summed: tuple[str, ...]
    input: tuple[str, ...]
    weight: tuple[str, ...]


_DENSE = Channels(("o",), ("i",), ("i",), ("o", "i", "k"))
_DEPTHWISE = Channels(("c",), (), ("c",), ("c", "0", "k"))
_GROUPED = Channels(("g", "o"), ("i",), ("g", "i"), ("g", "o", "i", "k"))
_PACKED_DENSE = Channels(("b", "o"), ("i",), ("i",), ("b", "k", "i", "o"))
_PACKED_DEPTHWISE = Channels(("b", "c"), (), ("b", "c"), ("b", "k", "0", "c"))


@lowers(ai.ConvOp)
def _lower_conv(op: ai.ConvOp, x: Operand, weight: Operand, bias: Operand | None) -> ir.Value:
    out, acc = type_of(op.results[0]), str(op.acc.value)
    spatial, pads, is_last = out.rank - 2, list(op.pads), op.layout is not None
    low, high = pads[:spatial], pads[spatial:]
    border = ([0, *low, 0], [0, *high, 0]) if is_last else ([0, 0, *low], [0, 0, *high])
    padded, total = pad(x.value, x.type, *border, 0), TensorType(out.shape, acc)
    axis = out.rank - 1 if is_last else 1
    init = filled(total, 0) if bias is None else _broadcast_bias(bias, total, axis)
    channels, blocks = _channels(op, weight.type)
    filters = weight.value
    if len(channels.kept) == 2:
        init = split_axis(init, axis, blocks)
        padded = padded if len(channels.input) == 1 else split_axis(padded, axis, blocks)
        filters = split_axis(filters, 0, blocks) if op.pack is None else filters
    window = Window(list(op.strides), list(op.dilations), is_last)
    result = convolve(window, padded, filters, init, channels, multiply_add(acc, x.type.element))
    if len(channels.kept) == 2:
        result = tensor.CollapseShapeOp(tensor_type(total), result, split_groups(out.rank, axis)).result
    return rounded(result, out, acc)


def _channels(op: ai.ConvOp, weight: TensorType) -> tuple[Channels, int]:
    """The form of a convolution, and how many groups or blocks its channels are split into."""
    group, pack, filters = op.group.value, op.pack, op.filters
    if pack is None or filters is None:
        return plain_channels(group, weight)
    depthwise = weight.shape[-2] == 1 and group == filters.value
    if op.layout is None or (group > 1 and not depthwise):
        what = "dense and depthwise convolutions in channels_last"
        raise UnsupportedError(
            f"convert-ai-to-linalg takes packed weights of {what} only (at {describe(op.location)}): pack no others"
        )
    if op.winograd is not None:
        where = describe(op.location)
        raise UnsupportedError(
            f"convert-ai-to-linalg leaves filters transformed for winograd to the template (at {where}): "
            "run ai-select-route before"
        )
    check_whole_blocks(pack.value, filters.value, op.interleave)
    return (_PACKED_DEPTHWISE if depthwise else _PACKED_DENSE), weight.shape[0]


def plain_channels(group: int, weight: TensorType) -> tuple[Channels, int]:
    """The form of a convolution whose weight is [O, C/group, *kernel], and how many groups its channels split into."""
    if group == 1:
        return _DENSE, 1
    return (_DEPTHWISE, 1) if weight.shape[1] == 1 and group == weight.shape[0] else (_GROUPED, group)


@dataclass(frozen=True)
class Window:
    """How a window moves, and in which layout."""

    strides: list[int]
    dilations: list[int]
    is_last: bool = False


def convolve(
    window: Window,
    x: ir.Value,
    w: ir.Value,
    init: ir.Value,
    channels: Channels,
    body: Body,
    others: Sequence[tuple[ir.Value, Sequence[str]]] = (),
) -> ir.Value:
    """The nest: sums of products onto `init`; all channels split as `channels` says.

    `others`: what else `body` reads, between weight and sum, and the loops over channels that index it.
    """
    rank, kept, is_last = len(window.strides), list(channels.kept), window.is_last
    out, kernel = [f"out{i}" for i in range(rank)], [f"k{i}" for i in range(rank)]
    if is_last:
        outer, sums, inner = ["n", *out, *kept[:-1]], [*kernel, *channels.summed], kept[-1]
    else:
        outer, sums, inner = ["n", *kept, *out[:-1]], [*channels.summed, *kernel], out[-1]
    names = [*outer, *sums, inner]
    loop = dict(zip(names, dims(len(names)), strict=True))
    steps = zip(out, kernel, window.strides, window.dilations, strict=True)
    places = [loop[o] * stride + loop[k] * dilation for o, k, stride, dilation in steps]

    def activation(names: Sequence[str], spatial: Sequence[ir.AffineExpr]) -> list[ir.AffineExpr]:
        parts = [loop[name] for name in names]
        return [loop["n"], *spatial, *parts] if is_last else [loop["n"], *parts, *spatial]

    weight = [e for name in channels.weight for e in _expressions(name, loop, kernel)]
    return generic(
        [
            (x, activation(channels.input, places)),
            (w, weight),
            *((value, [loop[name] for name in names]) for value, names in others),
        ],
        (init, activation(kept, [loop[o] for o in out])),
        [PARALLEL] * len(outer) + [REDUCTION] * len(sums) + [PARALLEL],
        body,
    )


def _expressions(name: str, loop: dict[str, ir.AffineExpr], kernel: list[str]) -> list[ir.AffineExpr]:
    return [loop[k] for k in kernel] if name == "k" else [zero() if name == "0" else loop[name]]


def _broadcast_bias(bias: Operand, total: TensorType, axis: int) -> ir.Value:
    loops = dims(total.rank)
    inputs = [(bias.value, [loops[axis]])]
    return generic(
        inputs, (empty(total), loops), [PARALLEL] * total.rank, lambda b, _: cast(b, bias.type.element, total.element)
    )
