"""ai-fold-batch-norm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from mlir import ir

from aiopt.dialects import ext
from aiopt.dialects.ai import AddOp, BatchNormOp, ConvOp, ConvTransposeOp, DivOp, MulOp, SubOp
from aiopt.dialects.ai.packing import pack_filters, unpack_filters
from aiopt.passes.base import Pass
from aiopt.passes.rewrite import Rewriter, constant_value, defining, has_one_use, rewrite
from aiopt.passes.unit import Unit

_CONVOLUTIONS = (ConvOp, ConvTransposeOp)


@dataclass(frozen=True)
class FoldBatchNorm(Pass):
    """Fold constant scales and shifts of channels into the convolution before them.

    Before: conv or conv_transpose with constant weight and bias, whose only user is a batch_norm with constant
    parameters, or an add, sub, mul or div with one constant per channel. After: the conv with other weight and bias.
    Before: any other batch_norm with constant parameters. After: mul and add.

    New values are computed in f64 and rounded once. A fold that would leave a value that is not finite in the
    weight's type is not made, since infinities would then meet zeros elsewhere.
    Source: Jacob et al., Quantization and Training of Neural Networks, CVPR 2018, section 3.2 (the folding).
    """

    name: ClassVar[str] = "ai-fold-batch-norm"

    def run(self, unit: Unit) -> bool:
        after_conv = {MulOp: _fold_mul, DivOp: _fold_div, AddOp: _fold_add, SubOp: _fold_sub}
        return rewrite(
            unit,
            {
                BatchNormOp: (_fold_batch_norm_into_conv, _expand_batch_norm),
                **{cls: (pattern,) for cls, pattern in after_conv.items()},
            },
        )


def _fold_batch_norm_into_conv(op: BatchNormOp, rewriter: Rewriter) -> bool:
    conv = defining(op.input)
    if not isinstance(conv, _CONVOLUTIONS) or _channel_axis(conv) != _channel_axis(op):
        return False
    affine = _batch_norm_affine(op, rewriter.unit)
    return affine is not None and _fold_affine(op, op.input, *affine, rewriter)


def _expand_batch_norm(op: BatchNormOp, rewriter: Rewriter) -> bool:
    """batch_norm(x) -> x * factor + offset, where it could not go into a conv."""
    affine = _batch_norm_affine(op, rewriter.unit)
    if affine is None:
        return False
    kind = ext.type_of(op.input)
    rounded = [_round(values, kind.dtype) for values in affine]
    if any(values is None for values in rounded):
        return False
    shape = (-1, *[1] * (kind.rank - 1 - _channel_axis(op)))
    hint = _hint(op)
    factor, offset = (
        rewriter.constant(values.reshape(shape), f"{hint}.{name}")
        for values, name in zip(rounded, ("scale", "shift"), strict=True)
        if values is not None
    )
    return rewriter.replace(rewriter.create(AddOp, rewriter.create(MulOp, op.input, factor), offset))


def _fold_mul(op: MulOp, rewriter: Rewriter) -> bool:
    return _fold_binary(op, lambda c: (c, np.zeros_like(c)), rewriter, commutes=True)


def _fold_div(op: DivOp, rewriter: Rewriter) -> bool:
    with np.errstate(all="ignore"):
        return _fold_binary(op, lambda c: (1 / c, np.zeros_like(c)), rewriter)


def _fold_add(op: AddOp, rewriter: Rewriter) -> bool:
    return _fold_binary(op, lambda c: (np.ones_like(c), c), rewriter, commutes=True)


def _fold_sub(op: SubOp, rewriter: Rewriter) -> bool:
    return _fold_binary(op, lambda c: (np.ones_like(c), -c), rewriter)


def _fold_binary(
    op: ext.Operation,
    affine: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    rewriter: Rewriter,
    commutes: bool = False,
) -> bool:
    """Fold `op(conv, c)`, and `op(c, conv)` if it commutes, where c has one value per channel."""
    lhs, rhs = op.operation.operands
    for value, other in ((lhs, rhs), (rhs, lhs)) if commutes else ((lhs, rhs),):
        conv = defining(value)
        if isinstance(conv, _CONVOLUTIONS) and value.type == op.operation.results[0].type:
            shape, axis = ext.type_of(value).shape, _channel_axis(conv)
            channel = _per_channel(constant_value(other, rewriter.unit), shape, axis)
            if channel is not None and _fold_affine(op, value, *affine(channel), rewriter):
                return True
    return False


def _fold_affine(
    op: ext.Operation, value: ir.Value, factor: np.ndarray, offset: np.ndarray, rewriter: Rewriter
) -> bool:
    """conv(x, w, b) * factor + offset -> conv(x, w * factor, b * factor + offset); factor and offset f64 [O]."""
    conv = defining(value)
    if not isinstance(conv, _CONVOLUTIONS) or not has_one_use(value):
        return False
    weight = constant_value(conv.weight, rewriter.unit)
    bias = np.zeros(1) if conv.bias is None else constant_value(conv.bias, rewriter.unit)
    if weight is None or bias is None:
        return False
    new_weight = _scaled_weight(conv, weight, factor)
    with np.errstate(all="ignore"):
        new_bias = _round(bias.astype(np.float64) * factor + offset, weight.dtype)
    if new_weight is None or new_bias is None:
        return False
    attributes = conv.python_attributes()
    hint = _hint(conv)
    weight_value = conv.weight if new_weight is weight else rewriter.constant(new_weight, f"{hint}.weight")
    no_bias = conv.bias is None and not new_bias.any()
    bias_value = None if no_bias else rewriter.constant(new_bias, f"{hint}.bias")
    operands = (conv.input, weight_value, bias_value)
    return rewriter.replace(rewriter.create(type(conv), *operands, merged=[conv], **attributes))


def _scaled_weight(conv: ConvOp | ConvTransposeOp, weight: np.ndarray, factor: np.ndarray) -> np.ndarray | None:
    """The weight with its filters times factor [O]; the weight itself where the factor is 1; None if not finite.

    Filters are [O, ...] of a conv; of a conv_transpose [C, O/group, ...], where the channels C are in groups. A packed
    weight is unpacked for it and packed again.
    """
    if (factor == 1).all():
        return weight
    attributes = conv.python_attributes()
    if (pack := attributes.get("pack")) is not None:
        plain = _scaled_filters(conv, unpack_filters(weight, attributes["filters"], attributes["group"]), factor)
        return None if plain is None else pack_filters(plain, attributes["group"], pack)
    return _scaled_filters(conv, weight, factor)


def _scaled_filters(conv: ConvOp | ConvTransposeOp, weight: np.ndarray, factor: np.ndarray) -> np.ndarray | None:
    group = conv.python_attributes()["group"] if isinstance(conv, ConvTransposeOp) else 1
    inner = [1] * (weight.ndim - 2)
    shape = (group, 1, -1, *inner) if isinstance(conv, ConvTransposeOp) else (1, -1, 1, *inner)
    split = weight.astype(np.float64).reshape(group, -1, *weight.shape[1:])
    with np.errstate(all="ignore"):
        return _round((split * factor.reshape(shape)).reshape(weight.shape), weight.dtype)


def _batch_norm_affine(op: BatchNormOp, unit: Unit) -> tuple[np.ndarray, np.ndarray] | None:
    """(factor, offset) f64 [C] with batch_norm(x) = x * factor + offset; None if a parameter is not constant."""
    parameters = [constant_value(v, unit) for v in (op.scale, op.bias, op.mean, op.variance)]
    if any(parameter is None for parameter in parameters):
        return None
    scale, bias, mean, variance = (np.asarray(parameter, np.float64) for parameter in parameters)
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(variance + op.python_attributes()["epsilon"])
        return factor, bias - mean * factor


def _channel_axis(op: ConvOp | ConvTransposeOp | BatchNormOp) -> int:
    """The dimension of the result that C is."""
    return 1 if op.python_attributes().get("layout") is None else ext.type_of(op.out).rank - 1


def _per_channel(array: np.ndarray | None, shape: tuple[int, ...], channel: int) -> np.ndarray | None:
    """A constant that broadcasts to `shape` as f64 [C], if it varies along dimension `channel` alone; else None."""
    if array is None or array.ndim > len(shape):
        return None
    aligned = (1,) * (len(shape) - array.ndim) + array.shape
    if any(size != 1 for axis, size in enumerate(aligned) if axis != channel):
        return None
    return np.broadcast_to(array.reshape(aligned[channel]).astype(np.float64), (shape[channel],))


def _round(values: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
    """f64 values in the weight's type, or None if one is not finite there."""
    with np.errstate(all="ignore"):
        rounded = values.astype(dtype)
    return rounded if np.isfinite(rounded).all() else None


def _hint(op: Any) -> str:
    """What to call new weights of an op: its node's name."""
    return next(iter(ext.node_names(op.location)), op.OPERATION_NAME)
