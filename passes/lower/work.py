"""How long a kernel takes: an estimate from what it says of itself or from loop bounds, to tell whether threads pay."""

from __future__ import annotations

import math

from mlir import ir
from mlir.dialects import func, scf

from aiopt.passes.templates.registry import has_emitted_loops

# One core of the last ten years, fast: what takes longer than the estimate may be split too late, never too early.
_TEMPLATE_FLOPS_PER_NS, _FLOPS_PER_NS, _BYTES_PER_NS = 60, 10, 60
_UNKNOWN_TRIPS = 8


def nanoseconds(kernel: func.FuncOp) -> int:
    """On one core, with all buffers in its caches: from `ai.flops` and `ai.bytes`, else from its loops and buffers."""
    attributes = kernel.attributes
    rate = _TEMPLATE_FLOPS_PER_NS if has_emitted_loops(kernel) else _FLOPS_PER_NS
    flops = attributes["ai.flops"].value if "ai.flops" in attributes else scalar_operations(kernel.entry_block)
    moved = attributes["ai.bytes"].value if "ai.bytes" in attributes else sum(map(_bytes, kernel.type.inputs))
    return flops // rate + moved // _BYTES_PER_NS


def iterations(loop: scf.ForallOp) -> int:
    """How many iterations a parallel loop of constant bounds has; 0 for another one."""
    dynamic = ir.ShapedType.get_dynamic_size()
    bounds = [list(loop.operation.attributes[f"static{name}"]) for name in ("LowerBound", "UpperBound", "Step")]
    if any(dynamic in values for values in bounds):
        return 0
    return math.prod(max(-(-(upper - lower) // step), 0) for lower, upper, step in zip(*bounds, strict=True))


def scalar_operations(block: ir.Block) -> int:
    """Ops a run of the block executes, a vector counting as its elements; both sides of a branch count."""
    return sum(_operation(op) for op in block.operations)


def _operation(op: ir.OpView) -> int:
    inner = sum(scalar_operations(block) for region in op.regions for block in region.blocks)
    if isinstance(op, scf.ForOp):
        return _trips(op) * inner
    if isinstance(op, scf.ForallOp):
        return iterations(op) * inner
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


def _bytes(kind: ir.Type) -> int:
    """Of a buffer of static shape; 0 for anything else."""
    if not isinstance(kind, ir.MemRefType) or not kind.has_static_shape:
        return 0
    return math.prod(kind.shape) * max(getattr(kind.element_type, "width", 64) // 8, 1)
