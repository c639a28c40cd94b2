"""ai-expand-conv-transpose."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import Any, ClassVar

from mlir import ir

from aiopt.dialects import ext
from aiopt.dialects.ai import AddOp, BroadcastToOp, ConvOp, ConvTransposeOp, MatMulOp, ReshapeOp, TransposeOp
from aiopt.dialects.ai.elementwise import Unary
from aiopt.passes.base import Pass
from aiopt.passes.rewrite import Rewriter, defining, has_one_use, rewrite
from aiopt.passes.unit import Unit

_LANES = 8  # f32 of a vector, on most machines


@dataclass(frozen=True)
class ExpandConvTranspose(Pass):
    """Turn a conv_transpose whose windows tile its result into matrix products, or a convolution and a change of order.

    Before: conv_transpose with strides equal to the kernel, dilations 1, no pads, one group. After: with channels last,
    a row of pixels times the weights of a row of taps is a row of the result, so all is one batched matmul between
    views, and transposes to channels last and back, which cancel with those of its neighbours. Where a row of taps
    fills no vector: a conv with one filter for each filter and tap (a kernel of size 1), and reshape, transpose,
    reshape that put the taps into place.
    Before: one-operand elementwise ops after that. After: before the last views, where they share a kernel.

    So it costs the flops it must. Others stay: spread by zeros, they cost the product of the strides times that.
    Source: Shi et al., Is the deconvolution layer the same as a convolutional layer?, 2016.
    """

    name: ClassVar[str] = "ai-expand-conv-transpose"

    def run(self, unit: Unit) -> bool:
        unary = dict.fromkeys(Unary.__subclasses__(), (_hoist_unary, _hoist_unary_to_product))
        return rewrite(unit, {ConvTransposeOp: (_expand_tiling,), **unary})


def _expand_tiling(op: ConvTransposeOp, rewriter: Rewriter) -> bool:
    attributes, weight, out = op.python_attributes(), ext.type_of(op.weight), ext.type_of(op.out)
    channels, filters, *kernel = weight.shape
    moved = any(attributes["pads"]) or any(attributes["output_pads"]) or any(d != 1 for d in attributes["dilations"])
    if attributes["strides"] != kernel or moved or attributes["group"] != 1:
        return False
    plain = op.bias is None or ext.type_of(op.bias).element == out.element
    if kernel[-1] * filters >= _LANES and plain:
        return rewriter.replace(_product(op, attributes, rewriter))
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


def _product(op: ConvTransposeOp, attributes: dict[str, Any], rewriter: Rewriter) -> ir.Value:
    """[images * y, 1, x, channels] times [1, taps of y, channels, taps of x * filters]; more dimensions likewise."""
    weight, image, out = (ext.type_of(value).shape for value in (op.weight, op.input, op.out))
    (channels, filters, *kernel), (count, _, *spatial) = weight, image
    rank, row = len(kernel), kernel[-1] * filters
    lead = list(chain.from_iterable((size, 1) for size in spatial[:-1]))
    lead = [count * lead[0], *lead[1:]] if lead else [count]
    taps = list(chain.from_iterable((1, size) for size in kernel[:-1]))
    last = rewriter.create(TransposeOp, op.input, permutation=[0, *range(2, rank + 2), 1])
    lhs = rewriter.create(ReshapeOp, last, shape=[*lead, spatial[-1], channels])
    order = rewriter.create(TransposeOp, op.weight, permutation=[*range(2, rank + 1), 0, rank + 1, 1])
    rhs = rewriter.create(ReshapeOp, order, shape=[*(taps or [1]), channels, row])
    value = rewriter.create(MatMulOp, lhs, rhs, acc=attributes["acc"], to=attributes.get("to"))
    if op.bias is not None:
        table = rewriter.create(BroadcastToOp, op.bias, shape=[kernel[-1], filters])
        value = rewriter.create(AddOp, value, rewriter.create(ReshapeOp, table, shape=[row]))
    value = rewriter.create(ReshapeOp, value, shape=[count, *out[2:], filters])
    return rewriter.create(TransposeOp, value, permutation=[0, rank + 1, *range(1, rank + 1)])


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


def _hoist_unary_to_product(op: Unary, rewriter: Rewriter) -> bool:
    """f(transpose(reshape(product))) -> transpose(reshape(f(product))): it works on the product's registers."""
    (value,) = op.operation.operands
    turn = defining(value)
    if not isinstance(turn, TransposeOp) or not has_one_use(value):
        return False
    view = defining(turn.input)
    if not isinstance(view, ReshapeOp) or not has_one_use(turn.input) or not has_one_use(view.input):
        return False
    if not isinstance(defining(view.input), (AddOp, MatMulOp, *Unary.__subclasses__())):
        return False
    moved = rewriter.create(type(op), view.input, **op.python_attributes())
    flat = rewriter.create(ReshapeOp, moved, merged=[view], shape=ext.type_of(turn.input).shape)
    return rewriter.replace(rewriter.create(TransposeOp, flat, merged=[turn], permutation=list(turn.permutation)))
