"""Transposes and relayouts as permutations of dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from aiopt.dialects import ext
from aiopt.dialects.ai import RelayoutOp, TransposeOp
from aiopt.dialects.ai.packing import CHANNELS_LAST


def permutation_of(op: TransposeOp | RelayoutOp) -> list[int]:
    """Which dimension of the operand each dimension of the result is."""
    if isinstance(op, TransposeOp):
        return list(op.permutation)
    rank = ext.type_of(op.input).rank
    return [0, *range(2, rank), 1] if op.to.value == CHANNELS_LAST else [0, rank - 1, *range(1, rank - 1)]


def is_view(permutation: Sequence[int], shape: Sequence[int]) -> bool:
    """True if a transpose of this shape moves dimensions of size 1 only, so that the elements keep their order."""
    moved = [axis for axis in permutation if shape[axis] != 1]
    return moved == sorted(moved)
