"""Transposed convolution: what is left open of its output shape made explicit."""

from collections.abc import Sequence

from aiopt.dialects import ai
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError


@onnx_op("ConvTranspose", until=10)
def _conv_transpose_old(node: Node) -> Value:
    """Before opset 11 the odd element of padding goes to the start for SAME_UPPER, else to the end."""
    return _conv_transpose_of(node, odd_at_start=("SAME_UPPER",))


@onnx_op("ConvTranspose", since=11)
def _conv_transpose(node: Node) -> Value:
    """The odd element of padding goes to the end for SAME_UPPER, else to the start."""
    return _conv_transpose_of(node, odd_at_start=("NOTSET", "SAME_LOWER", "VALID"))


def _conv_transpose_of(node: Node, odd_at_start: Sequence[str]) -> Value:
    x, weight, bias = node.input(0), node.input(1), node.optional(2)
    if weight.rank != x.rank or x.rank < 3:
        raise ModelError(f"input {list(x.shape)} and weight {list(weight.shape)} must have one rank of 3 or more")
    rank, kernel = x.rank - 2, list(weight.shape[2:])
    if (given := node.attributes.get_ints("kernel_shape", kernel)) != kernel:
        raise ModelError(f"kernel_shape {given} contradicts the weight's {kernel}")
    strides = _numbers(node, "strides", rank, 1, 1)
    dilations = _numbers(node, "dilations", rank, 1, 1)
    extra = _numbers(node, "output_padding", rank, 0, 0)
    full = [
        (size - 1) * stride + (taps - 1) * dilation + 1 + more
        for size, stride, taps, dilation, more in zip(x.shape[2:], strides, kernel, dilations, extra, strict=True)
    ]
    pads = _numbers(node, "pads", 2 * rank, 0, 0)
    mode, asked = node.attributes.get_string("auto_pad", "NOTSET"), node.attributes.get_ints("output_shape", None)
    if mode not in ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"):
        raise ModelError(f"auto_pad must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, not '{mode}'")
    if asked is None and mode.startswith("SAME"):
        asked = [size * stride for size, stride in zip(x.shape[2:], strides, strict=True)]
    if asked is not None:
        wanted = asked[-rank:]  # some exporters write the batch and the channels too
        if len(asked) not in (rank, rank + 2) or min(wanted) < 1:
            raise ModelError(f"output_shape must be {rank} numbers of 1 or more, but is {asked}")
        extra = [more + max(want - have, 0) for more, want, have in zip(extra, wanted, full, strict=True)]
        totals = [max(have - want, 0) for want, have in zip(wanted, full, strict=True)]
        starts = [(total + 1) // 2 if mode in odd_at_start else total // 2 for total in totals]
        pads = [*starts, *(total - start for total, start in zip(totals, starts, strict=True))]
    return node.emit(
        ai.ConvTransposeOp,
        x,
        weight,
        bias,
        strides=strides,
        pads=pads,
        output_pads=extra,
        dilations=dilations,
        group=node.attributes.get_int("group", 1),
    )


def _numbers(node: Node, name: str, length: int, default: int, least: int) -> list[int]:
    values = node.attributes.get_ints(name, [default] * length)
    if len(values) != length or min(values) < least:
        raise ModelError(f"{name} must be {length} numbers of {least} or more, but is {values}")
    return values
