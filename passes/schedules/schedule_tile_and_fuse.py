"""The pass that gives every kernel of the structured route its outer parallel loop."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from mlir import ir
from mlir.dialects import bufferization, func, linalg

from aiopt.passes.base import FunctionPass
from aiopt.passes.schedules.apply import apply_schedule
from aiopt.passes.schedules.tile_and_fuse import ROOT, tile_and_fuse
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit

_PRODUCTS = frozenset({"ai.matmul", "ai.matmul_integer", "ai.qlinear_matmul"})
_LEAST_COLUMNS = 32  # narrower tiles cost more in loop overhead than they save in cache misses


@dataclass(frozen=True)
class ScheduleTileAndFuse(FunctionPass):
    """Before: a kernel as a chain of linalg ops. After: one scf.forall over tiles of its result, the chain inside.

    A tile is at most `rows` x `columns` of a matmul's result; in channels_last all channels of pixels in a row, up to
    `pixels` elements; where an operand is read across its rows, a square of at most `square` x `square`, so that both
    sides are used by whole cache lines; else whole trailing dimensions of up to `elements` elements. Axes that a
    softmax or a norm folds stay whole, so that nothing is computed twice. Tiles divide their dimension, so that every
    buffer inside is static. Kernels whose last op is not a linalg op stay as they are.
    """

    name: ClassVar[str] = "schedule-tile-and-fuse"
    requires = Level.TENSOR
    elements: int = 2048
    rows: int = 8
    columns: int = 256
    pixels: int = 8192
    square: int = 16

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> bool:
        if "ai.kernel" not in function.attributes:
            return False
        root = _find_root(function)
        sizes = self._tile_sizes(function, root) if root is not None else []
        if root is None or not any(sizes):
            return False
        root.attributes[ROOT] = ir.UnitAttr.get()
        apply_schedule(function.operation, tile_and_fuse(sizes))
        return True

    def _tile_sizes(self, function: func.FuncOp, root: linalg.GenericOp) -> list[int]:
        parallel = [str(kind) == "#linalg.iterator_type<parallel>" for kind in root.iterator_types]
        shape = list(root.results[0].type.shape)
        if any(op.value in _PRODUCTS for op in function.attributes.get("ai.ops") or ()):
            lead, (m, n) = shape[:-2], shape[-2:]
            sizes = [1] * len(lead) + [_divisor(m, self.rows, 1), _divisor(n, self.columns, _LEAST_COLUMNS)]
        elif "ai.layout" in function.attributes and len(shape) == sum(parallel):
            sizes = _pixel_tile(shape, self.pixels)
        elif all(parallel) and (across := _read_across(root)) is not None:
            sizes = [1] * len(shape)
            sizes[-1] = _divisor(shape[-1], self.square, 1)
            sizes[across] = _divisor(shape[across], self.square, 1)
        else:
            known = all(parallel) and len(shape) == _rank(function) and "ai.whole_axes" in function.attributes
            sizes = _row_tile(shape, list(function.attributes["ai.whole_axes"]) if known else [], self.elements)
        remaining = iter(sizes)
        return [next(remaining) if is_parallel else 0 for is_parallel in parallel]


def _row_tile(shape: list[int], whole: list[int], elements: int) -> list[int]:
    """1 for leading dimensions, 0 (whole) for as many trailing ones as fit in `elements`, and for those in `whole`."""
    sizes = [0 if axis in whole else 1 for axis in range(len(shape))]
    size = prod(shape[axis] for axis in whole)
    for axis in reversed(range(len(shape))):
        if axis in whole:
            continue
        size *= shape[axis]
        if axis != len(shape) - 1 and size > elements:
            break
        sizes[axis] = 0
    return sizes if any(sizes) or len(shape) < 2 else [1 if axis == 0 else 0 for axis in range(len(shape))]


def _pixel_tile(shape: list[int], elements: int) -> list[int]:
    """All channels of as many pixels of a row as fit in `elements`, for a result [N, *spatial, C]."""
    *_, width, channels = shape
    if width * channels <= elements and prod(shape) > width * channels:
        return [1] * (len(shape) - 2) + [0, 0]
    return [1] * (len(shape) - 2) + [_divisor(width, max(elements // channels, 1), 1), 0]


def _read_across(root: linalg.GenericOp) -> int | None:
    """The loop that walks an operand by unit stride where the innermost loop walks it by a larger one."""
    maps = [attribute.value for attribute in root.indexing_maps]
    innermost = maps[-1].n_dims - 1
    for source in maps[:-1]:
        loops = [expr.position for expr in source.results if isinstance(expr, ir.AffineDimExpr)]
        if innermost in loops[:-1] and len(loops) == len(source.results):
            return loops[-1]
    return None


def _divisor(extent: int, limit: int, least: int) -> int:
    """The largest divisor of `extent` from `least` to `limit`; 0 (the whole dimension) where there is none."""
    return next((size for size in range(min(limit, extent - 1), least - 1, -1) if extent % size == 0), 0)


def _rank(function: func.FuncOp) -> int:
    """Rank of the kernel's result, which is its last argument."""
    return len(function.arguments[len(function.arguments) - 1].type.shape)


def _find_root(function: func.FuncOp) -> linalg.GenericOp | None:
    """The linalg op whose result the kernel stores; None if it stores something else."""
    for op in function.entry_block.operations:
        if isinstance(op, bufferization.MaterializeInDestinationOp):
            owner = op.source.owner
            if isinstance(owner, (ir.Operation, ir.OpView)) and isinstance(owner.opview, linalg.GenericOp):
                return owner.opview
    return None
