"""Ops that move elements nowhere, or twice. No arithmetic is touched, so every bit of the result stays."""

from __future__ import annotations

import math

from aiopt.dialects import ext
from aiopt.dialects.ai import BroadcastToOp, ConcatOp, RelayoutOp, ReshapeOp, SliceOp, Trait, TransposeOp
from aiopt.passes.permutation import is_view, permutation_of
from aiopt.passes.rewrite import Pattern, Rewriter, defining


def _drop_same_type(op: ReshapeOp | BroadcastToOp, rewriter: Rewriter) -> bool:
    """reshape or broadcast_to of x to its own shape -> x."""
    return op.input.type == op.out.type and rewriter.replace(op.input)


def _merge_reshapes(op: ReshapeOp, rewriter: Rewriter) -> bool:
    """reshape(reshape(x)) -> one reshape: both keep the row-major order of the elements."""
    inner = defining(op.input)
    if not isinstance(inner, ReshapeOp):
        return False
    return rewriter.replace(rewriter.create(ReshapeOp, inner.input, **op.python_attributes()))


def split_before_slice(op: ReshapeOp, rewriter: Rewriter) -> bool:
    """reshape(slice(x)) -> slice(reshape(x)) where the reshape splits the one axis that is sliced, into whole parts.

    What reads the slice can then read x, as one that splits queries, keys and values and then their heads.
    """
    inner = defining(op.input)
    if not isinstance(inner, SliceOp) or any(step != 1 for step in inner.steps):
        return False
    whole, part, wanted = (list(ext.type_of(value).shape) for value in (inner.input, inner.out, op.out))
    cut = [axis for axis in range(len(whole)) if whole[axis] != part[axis]]
    if len(cut) != 1:
        return False
    (axis,) = cut
    after = len(part) - axis - 1
    split = wanted[axis : len(wanted) - after]
    size = math.prod(split[1:])
    if wanted[:axis] != part[:axis] or wanted[len(wanted) - after :] != part[axis + 1 :] or len(split) < 2:
        return False
    start = inner.starts[axis]
    if size == 0 or whole[axis] % size or start % size:
        return False
    shape = [*wanted[:axis], whole[axis] // size, *wanted[axis + 1 :]]
    parts = rewriter.create(ReshapeOp, inner.input, shape=shape, merged=[inner])
    starts = [start // size if i == axis else 0 for i in range(len(shape))]
    return rewriter.replace(rewriter.create(SliceOp, parts, starts=starts, sizes=wanted, steps=[1] * len(shape)))


def _drop_identity_transpose(op: TransposeOp, rewriter: Rewriter) -> bool:
    """transpose by (0, 1, ..., n-1) -> x."""
    permutation = list(op.permutation)
    return permutation == sorted(permutation) and rewriter.replace(op.input)


def _merge_transposes(op: TransposeOp | RelayoutOp, rewriter: Rewriter) -> bool:
    """transpose(transpose(x)) -> one transpose; axis i of the result is axis inner[outer[i]] of x.

    A relayout is a transpose too; two that undo each other become a transpose by (0, 1, ...), which is dropped.
    """
    inner = defining(op.input)
    if not isinstance(inner, (TransposeOp, RelayoutOp)):
        return False
    first = permutation_of(inner)
    permutation = [first[axis] for axis in permutation_of(op)]
    return rewriter.replace(rewriter.create(TransposeOp, inner.input, permutation=permutation))


def _reshape_instead_of_transpose(op: TransposeOp | RelayoutOp, rewriter: Rewriter) -> bool:
    """transpose that moves axes of size 1 only -> reshape: the elements keep their order."""
    if not is_view(permutation_of(op), ext.type_of(op.input).shape):
        return False
    return rewriter.replace(rewriter.create(ReshapeOp, op.input, shape=ext.type_of(op.out).shape))


def _drop_whole_slice(op: SliceOp, rewriter: Rewriter) -> bool:
    """slice of everything -> x. With every size full and start 0, the verifier leaves no step but 1."""
    return op.input.type == op.out.type and not any(op.starts) and rewriter.replace(op.input)


def _drop_single_concat(op: ConcatOp, rewriter: Rewriter) -> bool:
    """concat of one operand -> that operand."""
    operands = op.operation.operands
    return len(operands) == 1 and rewriter.replace(operands[0])


def _drop_broadcast_operand(op: ext.Operation, rewriter: Rewriter) -> bool:
    """f(x, broadcast_to(y)) -> f(x, y) where x has the result's shape: binary ops broadcast by themselves."""
    operands = list(op.operation.operands)
    for index, value in enumerate(operands):
        inner = defining(value)
        if isinstance(inner, BroadcastToOp) and operands[1 - index].type == op.operation.results[0].type:
            operands[index] = inner.input
            return rewriter.replace(rewriter.create(type(op), *operands))
    return False


PATTERNS: dict[type[ext.Operation], tuple[Pattern, ...]] = {
    ReshapeOp: (_drop_same_type, _merge_reshapes, split_before_slice),
    BroadcastToOp: (_drop_same_type,),
    TransposeOp: (_drop_identity_transpose, _merge_transposes, _reshape_instead_of_transpose),
    RelayoutOp: (_merge_transposes, _reshape_instead_of_transpose),
    SliceOp: (_drop_whole_slice,),
    ConcatOp: (_drop_single_concat,),
}


def binary_patterns(operations: list[type[ext.Operation]]) -> dict[type[ext.Operation], tuple[Pattern, ...]]:
    """The patterns that hold for every elementwise op of two operands among these."""
    chosen = [op for op in operations if Trait.ELEMENTWISE in op.traits and len(op.operand_slots) == 2]
    return dict.fromkeys(chosen, (_drop_broadcast_operand,))
