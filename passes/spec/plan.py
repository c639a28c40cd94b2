"""The memory plan of a module: what its attributes say, and whether @main keeps to it."""

from __future__ import annotations

from math import prod

from mlir import ir
from mlir.dialects import arith, func

from aiopt.passes.spec.base import Level, is_dense, refuse
from aiopt.passes.walk import ops_named
from aiopt.support.errors import SpecError

SIZES = ("ai.arena_bytes", "ai.weights_bytes")  # what `aiopt_<net>_info` tells the runtime to allocate
_MORE = ("ai.arena_lower_bound_bytes", "ai.temporaries_bytes")
_LAYOUT = "ai.weights_layout"
_LINE = 64  # bytes: a blob is a line at least, and everything in it begins with one


def is_planned(module: ir.Module) -> bool:
    """True if the module says how large its arena and its weights are."""
    return all(key in module.operation.attributes for key in SIZES)


def plan_sizes(module: ir.Module) -> dict[str, int]:
    """`ai.arena_bytes` and `ai.weights_bytes`. Raises SpecError if one is missing or no size."""
    return {key: _size(key, module.operation.attributes.get(key)) for key in SIZES}


def weight_offsets(module: ir.Module) -> dict[str, int]:
    """Byte offsets in the blob of weights by key (`ai.weights_layout`). Raises SpecError if it is something else."""
    attribute = module.operation.attributes.get(_LAYOUT)
    if attribute is None:
        return {}
    if not isinstance(attribute, ir.DictAttr):
        raise SpecError(f"the module attribute {_LAYOUT} must be a dictionary of offsets, but is {attribute}")
    return {entry.name: _size(f"{_LAYOUT} of '{entry.name}'", entry.attr) for entry in attribute}


def check_attributes(module: ir.Module) -> None:
    """The sizes and offsets of a plan are sizes and offsets. Raises SpecError."""
    attributes = module.operation.attributes
    sizes = plan_sizes(module)
    for key in _MORE:
        if key in attributes:
            _size(key, attributes[key])
    offsets = weight_offsets(module)
    if sizes["ai.weights_bytes"] and not offsets:
        raise SpecError(f"ai.weights_bytes is {sizes['ai.weights_bytes']}, but {_LAYOUT} does not say of what")
    for key, offset in offsets.items():
        if offset % _LINE or offset >= max(sizes["ai.weights_bytes"], 1):
            raise SpecError(
                f"{_LAYOUT} puts '{key}' at byte {offset}: no multiple of {_LINE} below ai.weights_bytes, which is "
                f"{sizes['ai.weights_bytes']}"
            )


def check_plan(level: Level, module: ir.Module, main: func.FuncOp) -> None:
    """The last arguments of @main are the two blobs, as large as planned, and views of them lie inside them.

    Raises SpecError.
    """
    check_attributes(module)
    sizes = plan_sizes(module)
    byte = ir.IntegerType.get_signless(8, module.context)
    blobs = dict(zip(("ai.weights_bytes", "ai.arena_bytes"), list(main.arguments)[-2:], strict=False))
    for key, blob in blobs.items():
        want = ir.MemRefType.get([max(sizes[key], _LINE)], byte, loc=main.location)
        if len(blobs) < 2 or blob.type != want:
            place = "last argument" if key == "ai.arena_bytes" else "last argument but one"
            raise refuse(level, main, f"@main without {want} as its {place}: {key} is {sizes[key]}")
    starts = set(weight_offsets(module).values())
    for view in ops_named(main, "memref.view"):
        source, offset = view.operands[0], _constant(view.operands[1])
        key = next((key for key, blob in blobs.items() if blob == source), None)
        if key is None or offset is None:
            raise refuse(level, view, "of anything but the arena or the weights, from a constant byte on")
        end = offset + byte_size(level, view, view.results[0].type)
        if offset % _LINE or offset < 0 or end > sizes[key]:
            raise refuse(level, view, f"of the bytes {offset} to {end}: {key} is {sizes[key]}")
        if key == "ai.weights_bytes" and offset not in starts:
            raise refuse(level, view, f"of byte {offset} of the weights, where {_LAYOUT} has none")


def check_casts(level: Level, main: func.FuncOp) -> None:
    """Views of other shapes reach no further than what they are views of. Raises SpecError."""
    for cast in ops_named(main, "memref.reinterpret_cast"):
        source, kind = cast.operands[0].type, ir.MemRefType(cast.results[0].type)
        if len(cast.operands) > 1 or list(ir.DenseI64ArrayAttr(cast.attributes["static_offsets"])) != [0]:
            raise refuse(
                level, cast, "with an offset, sizes or strides that are not constant or an offset that is not 0"
            )
        if not is_dense(kind) or _count(kind) > _count(source):
            raise refuse(level, cast, f"from {source} to {kind}: to a row-major view of as many elements only")


def byte_size(level: Level, op: ir.Operation, kind: ir.Type) -> int:
    """Bytes of a row-major memref of static shape. Raises SpecError for another type."""
    width = getattr(kind.element_type, "width", None) if isinstance(kind, ir.MemRefType) else None
    if width is None or width % 8 or not is_dense(kind):
        raise refuse(level, op, f"of type {kind}: row-major buffers of static shape only, of whole bytes")
    return prod(kind.shape) * width // 8


def _count(kind: ir.Type) -> int:
    return prod(kind.shape) if is_dense(kind) else 0


def _constant(value: ir.Value) -> int | None:
    op = None if isinstance(value.owner, ir.Block) else value.owner.opview
    return int(op.literal_value) if isinstance(op, arith.ConstantOp) else None


def _size(key: str, attribute: ir.Attribute | None) -> int:
    if not isinstance(attribute, ir.IntegerAttr) or attribute.value < 0:
        raise SpecError(f"the module attribute {key} must be a number of bytes, but is {attribute or 'not there'}")
    return attribute.value
