"""The pass that gives every kernel of the structured route its outer parallel loop."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from mlir import ir
from mlir.dialects import bufferization, func, linalg

from aiopt.passes.schedules.base import SchedulePass
from aiopt.passes.schedules.tile_and_fuse import tile_and_fuse
from aiopt.passes.spec.base import Level

_PRODUCTS = frozenset({"ai.matmul", "ai.matmul_integer", "ai.qlinear_matmul"})
_LEAST_COLUMNS = 32  # narrower tiles cost more in loop overhead than they save in cache misses


@dataclass(frozen=True)
class ScheduleTileAndFuse(SchedulePass):
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

    def schedule(self, function: func.FuncOp, name: str) -> str | None:
        if "ai.kernel" not in function.attributes:
            return None
        stored = _stored(function)
        for number, root in enumerate(stored):
            if root is not None:
                sizes = self._tile_sizes(function, root)
                return tile_and_fuse(name, sizes, number, len(stored)) if any(sizes) else None
        return None

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


def _stored(function: func.FuncOp) -> list[linalg.GenericOp | None]:
    """For each store of the kernel the linalg op whose result it stores, None where it is something else."""
    stores = [op for op in function.entry_block.operations if isinstance(op, bufferization.MaterializeInDestinationOp)]
    owners = [store.source.owner for store in stores]
    ops = [owner.opview if isinstance(owner, (ir.Operation, ir.OpView)) else None for owner in owners]
    return [op if isinstance(op, linalg.GenericOp) else None for op in ops]
