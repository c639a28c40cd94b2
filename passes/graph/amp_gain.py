"""Which contractions gain by 16-bit operands, by a roofline.

Source: Williams, Waterman and Patterson, Roofline, CACM 2009.
"""

from __future__ import annotations

from aiopt.dialects import ai, ext
from aiopt.passes.rewrite import constant_value, flops_of
from aiopt.passes.unit import Unit
from aiopt.support.cost import RIDGE

_CACHED_BYTES = 1 << 20  # weights up to this size stay in a core's L2 cache, where half the bytes are no gain
_MOSTLY = 0.75


def gains(op: ext.Operation, unit: Unit) -> bool:
    """True if a contraction in f32 is bound by arithmetic that 16-bit products halve, or by the bytes of its weights.

    Products come in pairs along the sums (vdpbf16ps, bfdot), so an odd depth, as depthwise convolutions and those on
    the three colours of an image have, gains nothing.
    """
    if isinstance(op, ai.MatMulOp):
        weight, depth = op.rhs, ext.type_of(op.lhs).shape[-1]
    elif isinstance(op, ai.ConvOp):
        weight, depth = op.weight, ext.type_of(op.weight).shape[1]
    elif isinstance(op, ai.ConvTransposeOp):
        weight, depth = op.weight, ext.type_of(op.weight).shape[0] // op.group.value
    else:
        raise AssertionError(f"{op.OPERATION_NAME} is no contraction")
    if depth % 2:
        return False
    moved = sum(ext.type_of(value).nbytes for value in [*op.operation.operands, *op.operation.results])
    if flops_of(op) >= 2 * RIDGE * moved:  # products of 16 bits are twice as fast, so their ridge is as far again
        return True
    stored = ext.type_of(weight).nbytes if constant_value(weight, unit) is not None else 0
    return stored > max(_CACHED_BYTES, _MOSTLY * moved)
