"""How much a piece of code computes: an estimate from loop bounds, good enough to tell whether threads pay."""

from __future__ import annotations

import math

from mlir import ir
from mlir.dialects import scf

_UNKNOWN_TRIPS = 8


def scalar_operations(block: ir.Block) -> int:
    """Ops a run of the block executes, a vector counting as its elements; both sides of a branch count."""
    return sum(_operation(op) for op in block.operations)


def _operation(op: ir.OpView) -> int:
    inner = sum(scalar_operations(block) for region in op.regions for block in region.blocks)
    if isinstance(op, scf.ForOp):
        return _trips(op) * inner
    return inner + max((_elements(result.type) for result in op.results), default=1)


def _trips(loop: scf.ForOp) -> int:
    lower, upper, step = (_constant(v) for v in (loop.lowerBound, loop.upperBound, loop.step))
    if lower is None or upper is None or step is None:
        return _UNKNOWN_TRIPS
    return max(-(-(upper - lower) // step), 0)


def _constant(value: ir.Value) -> int | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    return ir.IntegerAttr(owner.operation.attributes["value"]).value


def _elements(kind: ir.Type) -> int:
    return math.prod(kind.shape) if isinstance(kind, ir.VectorType) else 1
