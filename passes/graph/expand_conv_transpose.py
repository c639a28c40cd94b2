"""ai-expand-conv-transpose."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import ClassVar

from mlir import ir

from aiopt.dialects import ext
from aiopt.dialects.ai import BroadcastToOp, ConvOp, ConvTransposeOp, ReshapeOp, TransposeOp
from aiopt.dialects.ai.elementwise import Unary
from aiopt.passes.base import Pass
from aiopt.passes.rewrite import Rewriter, defining, has_one_use, rewrite
from aiopt.passes.unit import Unit


@dataclass(frozen=True)
class ExpandConvTranspose(Pass):
    """Turn a conv_transpose whose windows tile its result into a convolution and a change of order.

    Before: conv_transpose with strides equal to the kernel, dilations 1, no pads, one group. After: a conv with one
    filter for each filter and tap (a kernel of size 1), and reshape, transpose, reshape that put the taps into place.
    Before: one-operand elementwise ops after such a reshape. After: before it, where they share the transpose's nest.

    So it costs the flops it must and takes the route of convolutions. Others stay: spread by zeros, they cost the
    product of the strides times that.
    Source: Shi et al., Is the deconvolution layer the same as a convolutional layer?, 2016.
    """

    name: ClassVar[str] = "ai-expand-conv-transpose"

    def run(self, unit: Unit) -> bool:
        unary = dict.fromkeys(Unary.__subclasses__(), (_hoist_unary,))
        return rewrite(unit, {ConvTransposeOp: (_expand_tiling,), **unary})


def _expand_tiling(op: ConvTransposeOp, rewriter: Rewriter) -> bool:
    attributes, weight, out = op.python_attributes(), ext.type_of(op.weight), ext.type_of(op.out)
    channels, filters, *kernel = weight.shape
    moved = any(attributes["pads"]) or any(attributes["output_pads"]) or any(d != 1 for d in attributes["dilations"])
    if attributes["strides"] != kernel or moved or attributes["group"] != 1:
        return False
    rank, spatial = len(kernel), ext.type_of(op.input).shape[2:]
    taps = filters * prod(kernel)
    order = rewriter.create(TransposeOp, op.weight, permutation=[*range(1, rank + 2), 0])
    turned = rewriter.create(ReshapeOp, order, shape=[taps, channels, *[1] * rank])
    bias = None if op.bias is None else _repeated(op.bias, filters, prod(kernel), rewriter)
    value = rewriter.create(ConvOp, op.input, turned, bias, acc=attributes["acc"], to=attributes.get("to"))
    value = rewriter.create(ReshapeOp, value, shape=[out.shape[0], filters, *kernel, *spatial])
    pairs = chain.from_iterable((2 + rank + i, 2 + i) for i in range(rank))  # position, then tap, in each dimension
    value = rewriter.create(TransposeOp, value, permutation=[0, 1, *pairs])
    return rewriter.replace(rewriter.create(ReshapeOp, value, shape=list(out.shape)))


def _repeated(bias: ir.Value, filters: int, times: int, rewriter: Rewriter) -> ir.Value:
    """Each of the filters' numbers as often as it has taps."""
    column = rewriter.create(ReshapeOp, bias, shape=[filters, 1])
    table = rewriter.create(BroadcastToOp, column, shape=[filters, times])
    return rewriter.create(ReshapeOp, table, shape=[filters * times])


def _hoist_unary(op: Unary, rewriter: Rewriter) -> bool:
    """f(reshape(transpose(x))) -> reshape(f(transpose(x))): a view may stand after what is done to each element."""
    (value,) = op.operation.operands
    view = defining(value)
    if not isinstance(view, ReshapeOp) or not has_one_use(value):
        return False
    if not isinstance(defining(view.input), TransposeOp) or not has_one_use(view.input):
        return False
    moved = rewriter.create(type(op), view.input, **op.python_attributes())
    return rewriter.replace(rewriter.create(ReshapeOp, moved, merged=[view], shape=ext.type_of(value).shape))
