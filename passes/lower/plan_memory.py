"""ai-plan-memory: one arena for all temporaries, one blob for all weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from mlir import ir
from mlir.dialects import arith, func, memref

from aiopt.dialects.ext import dense_array, type_of
from aiopt.passes.base import Pass, functions
from aiopt.passes.lower.arena import ALIGNMENT, Buffer, Plan, align, plan
from aiopt.passes.spec.base import Level
from aiopt.passes.spec.plan import plan_sizes, weight_offsets
from aiopt.passes.spec.regions import region_of
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError
from aiopt.support.weights import WeightStore


@dataclass(frozen=True)
class PlanMemory(Pass):
    """Before: @main has a memref.alloc per temporary and a bufferization.to_buffer per constant.
    After: views of two more arguments, %weights and %arena; module attributes say how large they are.

    An alloc lives from the first to the last call that takes it or a view of it; calls of one region (ai-plan-threads)
    are at the same time. Up to `spare` per cent more memory than buffers need may be taken for a plan in which they lie
    in the middle of slots, so that threads that divide rows alike keep their part of a slot. Remarks: peak and lower
    bound.
    """

    name: ClassVar[str] = "ai-plan-memory"
    requires: ClassVar[Level | None] = Level.TENSOR
    ensures: ClassVar[Level | None] = Level.LOOPS
    spare: int = 0

    def run(self, unit: Unit) -> None:
        main = next((f for f in functions(unit.module) if f.name.value == "main"), None)
        if main is None:
            raise CompileError(f"{self.name}: the module has no function @main")
        uses = _read_main(main)
        layout = _lay_out_weights(uses, unit.weights)
        arena = plan(list(uses.buffers.values()), room=1 + self.spare / 100)
        _rewrite_main(main, uses, layout, arena)
        _annotate(unit.module, layout, arena, uses)
        unit.remarks.append(
            f"arena: {arena.peak} bytes for {len(uses.buffers)} temporaries of {_total(uses)} bytes, "
            f"lower bound {arena.lower_bound}"
        )


@dataclass
class _Uses:
    """What @main allocates: lifetimes of its allocs and the constants that it turns into buffers."""

    buffers: dict[ir.Value, Buffer] = field(default_factory=dict)
    constants: list[ir.OpView] = field(default_factory=list)  # bufferization.to_buffer


@dataclass(frozen=True)
class _WeightLayout:
    """Byte offsets of the weights in the blob by key, the key of each to_buffer, and the blob's size."""

    offsets: dict[str, int]
    keys: list[str]
    size: int


def _read_main(main: func.FuncOp) -> _Uses:
    uses = _Uses()
    source: dict[ir.Value, ir.Value] = {}  # a view or an alloc -> the alloc under it
    step = -1
    region: int | None = None
    for op in main.entry_block.operations:
        name = op.operation.name
        if name == "memref.alloc":
            source[op.result] = op.result
        elif name == "memref.reinterpret_cast" and op.operands[0] in source:
            source[op.result] = source[op.operands[0]]
        elif name == "bufferization.to_buffer":
            uses.constants.append(op)
        elif name == "func.call":
            before, region = region, region_of(op)
            step += before is None or region != before
            for alloc in {source[v] for v in op.operands if v in source}:
                first = uses.buffers[alloc].first if alloc in uses.buffers else step
                uses.buffers[alloc] = Buffer(byte_size(alloc.type), first, step)
    return uses


def byte_size(kind: ir.Type) -> int:
    """Bytes of a dense memref of static shape. Raises CompileError for another type."""
    if not isinstance(kind, ir.MemRefType) or not kind.has_static_shape:
        raise CompileError(f"ai-plan-memory: cannot plan a buffer of type {kind}: its shape must be static")
    width = getattr(kind.element_type, "width", 64)  # index is 64 bits wide
    if width % 8:
        raise CompileError(f"ai-plan-memory: cannot plan a buffer of type {kind}: an element must be whole bytes")
    return int(np.prod(kind.shape, dtype=np.int64)) * width // 8


def _lay_out_weights(uses: _Uses, weights: WeightStore) -> _WeightLayout:
    """Give each distinct constant one place in the blob, in order of first use."""
    offsets: dict[str, int] = {}
    keys: list[str] = []
    size = 0
    for op in uses.constants:
        key = _weight_key(op.operands[0], weights)
        needed = byte_size(op.result.type)
        if weights[key].nbytes != needed:
            raise CompileError(
                f"ai-plan-memory: constant '{key}' has {weights[key].nbytes} bytes, but is used as {op.result.type}"
            )
        keys.append(key)
        if key not in offsets:
            offsets[key] = size
            size += align(needed)
    return _WeightLayout(offsets, keys, size)


def _weight_key(tensor: ir.Value, weights: WeightStore) -> str:
    """The key of a constant tensor; the value of an arith.constant is put into the store first."""
    owner = tensor.owner
    op = owner.opview if isinstance(owner, ir.Operation) else owner
    if op.operation.name == "ai.constant":
        return ir.StringAttr(op.operation.attributes["key"]).value
    if isinstance(op, arith.ConstantOp):
        return weights.add("constant", dense_array(ir.DenseElementsAttr(op.value), type_of(op.result)))
    raise CompileError(f"ai-plan-memory: bufferization.to_buffer in @main takes a constant, not '{op.operation.name}'")


def _rewrite_main(main: func.FuncOp, uses: _Uses, layout: _WeightLayout, arena: Plan) -> None:
    weights, buffer = _add_blob(main, layout.size), _add_blob(main, arena.peak)
    offsets = dict(zip(uses.buffers, arena.offsets, strict=True))
    for op, key in zip(uses.constants, layout.keys, strict=True):
        _replace_by_view(op, weights, layout.offsets[key])
    for op in list(main.entry_block.operations):
        if op.operation.name == "memref.alloc" and op.result in offsets:
            _replace_by_view(op, buffer, offsets[op.result])
    _erase_unused(main)


def _add_blob(main: func.FuncOp, size: int) -> ir.Value:
    """A trailing argument of this many bytes (at least one line, so that a view of it is legal)."""
    byte = ir.IntegerType.get_signless(8)
    argument = main.entry_block.add_argument(ir.MemRefType.get([max(size, ALIGNMENT)], byte), main.location)
    kinds = [a.type for a in main.entry_block.arguments]
    attributes = list(main.arg_attrs) if "arg_attrs" in main.attributes else [ir.DictAttr.get({})] * (len(kinds) - 1)
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, []))
    main.attributes["arg_attrs"] = ir.ArrayAttr.get([*attributes, ir.DictAttr.get({})])
    return argument


def _replace_by_view(op: ir.OpView, blob: ir.Value, offset: int) -> None:
    with ir.InsertionPoint(op), op.location:
        at = arith.ConstantOp(ir.IndexType.get(), offset)
        view = memref.ViewOp(op.result.type, blob, at.result, [])
    op.result.replace_all_uses_with(view.result)
    op.operation.erase()


def _erase_unused(main: func.FuncOp) -> None:
    """Erase views, allocs and constants that nothing reads any more; users stand after what they use."""
    for op in reversed(list(main.entry_block.operations)):
        if len(op.results) == 1 and not any(op.results[0].uses):
            op.operation.erase()


def _total(uses: _Uses) -> int:
    return sum(b.aligned for b in uses.buffers.values())


def _annotate(module: ir.Module, layout: _WeightLayout, arena: Plan, uses: _Uses) -> None:
    i64 = ir.IntegerType.get_signless(64)
    attributes = module.operation.attributes
    for key, value in {
        "ai.arena_bytes": arena.peak,
        "ai.arena_lower_bound_bytes": arena.lower_bound,
        "ai.temporaries_bytes": _total(uses),
        "ai.weights_bytes": layout.size,
    }.items():
        attributes[key] = ir.IntegerAttr.get(i64, value)
    offsets = {key: ir.IntegerAttr.get(i64, offset) for key, offset in layout.offsets.items()}
    attributes["ai.weights_layout"] = ir.DictAttr.get(offsets)


def pack_weights(module: ir.Module, weights: WeightStore) -> np.ndarray:
    """The blob that `ai.weights_layout` of a planned module describes: uint8, starting at a multiple of 64.

    Raises ModelError if the value of a weight is not in the store, CompileError if it is larger than its place.
    """
    size = plan_sizes(module)["ai.weights_bytes"]
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    blob = memory[start : start + size]
    for key, offset in weight_offsets(module).items():
        array = weights[key]
        if offset + array.nbytes > size:
            raise CompileError(f"the weight '{key}' of {array.nbytes} bytes reaches beyond the {size} bytes planned")
        blob[offset : offset + array.nbytes] = array.reshape(-1).view(np.uint8)
    return blob
