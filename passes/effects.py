"""What calls of kernels read and write, on buffers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from mlir import ir
from mlir.dialects import arith, func

from aiopt.passes.walk import all_ops

_VIEWS = frozenset(
    f"memref.{name}"
    for name in ("subview", "cast", "reinterpret_cast", "expand_shape", "collapse_shape", "view", "transpose")
)
_READS = frozenset(
    {"memref.load", "memref.prefetch", "memref.dim", "vector.load", "vector.transfer_read", "vector.maskedload"}
    | {"vector.gather", "vector.expandload", "affine.load", "affine.vector_load", "affine.prefetch"}
)


@dataclass(frozen=True)
class Extent:
    """Bytes begin <= i < end of a buffer: an alloc or an argument of @main. All of it where they are not known."""

    buffer: ir.Value
    begin: int = 0
    end: int = 1 << 62

    def meets(self, other: Extent) -> bool:
        """True if they have a byte in common."""
        return self.buffer == other.buffer and self.begin < other.end and other.begin < self.end


@dataclass(frozen=True)
class Effects:
    """What a call touches, and what of it it writes."""

    touched: tuple[Extent, ...]
    written: tuple[Extent, ...]

    def is_independent(self, other: Effects) -> bool:
        """True if neither writes what the other one touches, so that they may run in any order and at once."""
        return not _meet(self.written, other.touched) and not _meet(self.touched, other.written)


def _meet(some: tuple[Extent, ...], others: tuple[Extent, ...]) -> bool:
    return any(a.meets(b) for a in some for b in others)


def call_effects(call: func.CallOp, written: Mapping[str, frozenset[int]]) -> Effects:
    """Of a call in @main; written: of each kernel the arguments it writes (see written_arguments)."""
    extents = [extent_of(value) for value in call.operands]
    return Effects(tuple(extents), tuple(extents[i] for i in sorted(written[call.callee.value])))


def extent_of(value: ir.Value) -> Extent:
    """The bytes a value of @main stands for: views of a constant place are followed to their buffer."""
    if isinstance(value.owner, ir.Block):
        return Extent(value)
    op = value.owner.opview if isinstance(value.owner, ir.Operation) else value.owner
    if op.operation.name == "memref.view" and (offset := _constant(op.operands[1])) is not None:
        whole = extent_of(op.operands[0])
        return Extent(whole.buffer, whole.begin + offset, whole.begin + offset + _bytes(value.type))
    return extent_of(op.operands[0]) if op.operation.name in _VIEWS else Extent(value)


def written_arguments(kernel: func.FuncOp) -> frozenset[int]:
    """The arguments, by number, that a kernel on buffers may write."""
    arguments = list(kernel.arguments)
    root: dict[ir.Value, int | None] = {argument: i for i, argument in enumerate(arguments)}
    found: set[int | None] = set()
    for op in all_ops(kernel)[1:]:
        buffers = [value for value in op.operands if isinstance(value.type, ir.MemRefType)]
        roots = [root.get(value, -1) for value in buffers]
        if op.name in _VIEWS:
            root.update(dict.fromkeys(op.results, roots[0]))
        elif op.name in ("memref.alloca", "memref.get_global", "memref.alloc"):
            root[op.results[0]] = None
        elif op.name not in _READS:
            found.update(roots)
    if -1 in found:  # of a buffer that comes from who knows where
        return frozenset(range(len(arguments)))
    return frozenset(i for i in found if i is not None)


def _constant(value: ir.Value) -> int | None:
    op = None if isinstance(value.owner, ir.Block) else value.owner.opview
    return int(op.literal_value) if isinstance(op, arith.ConstantOp) else None


def _bytes(kind: ir.Type) -> int:
    return prod(kind.shape) * kind.element_type.width // 8  # pyright: ignore[reportAttributeAccessIssue]
