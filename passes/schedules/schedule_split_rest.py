"""The pass that splits what the first schedule has left outside of loops, copies above all, among iterations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from aiopt.passes.schedules.base import SchedulePass
from aiopt.passes.spec.base import Level


@dataclass(frozen=True)
class ScheduleSplitRest(SchedulePass):
    """Before: kernels on buffers with linalg ops outside of loops, such as the copies of a concat.
    After: each op of at least `least` elements is in a scf.forall of its own, over its outermost parallel dimensions:
    as few of them as leave at most `elements` elements to an iteration.
    """

    name: ClassVar[str] = "schedule-split-rest"
    requires = Level.TENSOR
    elements: int = 2048
    least: int = 4096

    def schedule(self, function: func.FuncOp, name: str) -> str | None:
        if "ai.kernel" not in function.attributes:
            return None
        found = [self._tile_sizes(op) for op in _linalg_ops(function)]
        return _split(name, found) if any(found) else None

    def _tile_sizes(self, op: ir.Operation) -> list[int]:
        """Of the loops of an op; empty for one that stays whole."""
        extents = _extents(op)
        if op.parent is None or op.parent.name != "func.func" or prod(extents) < self.least:
            return []
        sizes = [0] * len(extents)
        for axis, extent in enumerate(extents):
            if prod(extents[axis:]) <= self.elements:
                break
            if not _is_parallel(op, axis):
                break
            inner = prod(extents[axis + 1 :])
            sizes[axis] = _divisor(extent, max(1, self.elements // inner))
        return sizes if any(sizes) else []


def _linalg_ops(function: func.FuncOp) -> list[ir.Operation]:
    """All of them, those in loops too, in the order in which a match finds them."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith("linalg.") and op.name not in ("linalg.yield", "linalg.index"):
            found.append(op)
        return ir.WalkResult.ADVANCE

    function.operation.walk(visit, ir.WalkOrder.POST_ORDER)
    return found


def _extents(op: ir.Operation) -> list[int]:
    """Of the loops of an op whose result has an element for each of them; empty for others."""
    kind = op.operands[len(op.operands) - 1].type
    if not isinstance(kind, ir.MemRefType) or not kind.has_static_shape:
        return []
    if op.name == "linalg.copy":
        return list(kind.shape)
    if op.name != "linalg.generic":
        return []
    *_, last = ir.ArrayAttr(op.attributes["indexing_maps"])
    loops = len(ir.ArrayAttr(op.attributes["iterator_types"]))
    return list(kind.shape) if str(last) == str(ir.AffineMapAttr.get(ir.AffineMap.get_identity(loops))) else []


def _is_parallel(op: ir.Operation, axis: int) -> bool:
    return op.name == "linalg.copy" or "parallel" in str(ir.ArrayAttr(op.attributes["iterator_types"])[axis])


def _divisor(extent: int, limit: int) -> int:
    """The largest divisor of `extent` up to `limit`."""
    return next(size for size in range(min(limit, extent), 0, -1) if extent % size == 0)


def _split(name: str, sizes: Sequence[Sequence[int]]) -> str:
    """A named sequence that tiles the linalg ops of a function, in the order of a match; none where sizes are empty."""
    any_op = "!transform.any_op"
    count = len(sizes)
    lines = [
        f"transform.named_sequence @{name}(%function: {any_op} {{transform.readonly}}) {{",
        f"  %all = transform.structured.match interface{{LinalgOp}} in %function : ({any_op}) -> {any_op}",
        f"  %op{f':{count}' if count > 1 else ''} = transform.split_handle %all : "
        f"({any_op}) -> ({', '.join([any_op] * count)})",
    ]
    for number, tile in enumerate(sizes):
        if tile:
            lines.append(
                f"  %tiled{number}, %loop{number} = transform.structured.tile_using_forall "
                f"%op{f'#{number}' if count > 1 else ''} tile_sizes [{', '.join(map(str, tile))}] "
                f": ({any_op}) -> ({any_op}, {any_op})"
            )
    return "\n".join([*lines, "  transform.yield", "}"])
