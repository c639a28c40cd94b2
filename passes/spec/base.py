"""Levels of the IR and the shape of a level's spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import describe
from aiopt.passes.level import Level
from aiopt.passes.walk import find_op, ops_named
from aiopt.support.errors import SpecError
from aiopt.support.types import ELEMENTS, storage_element

# On an scf.forall: its iterations are rows of so many, and each thread runs the same part of every row.
WIDTH = "ai.width"
SERIAL = "ai.serial"  # on a kernel: it runs on one thread
LIBRARY = "ai.library"  # on a function without a body: the library that has it
REGION = "ai.region"  # on calls in @main: those of one number run at the same time

_TEMPLATE = "the name of a template and its numbers"

_STORED = frozenset(map(storage_element, ELEMENTS))


@dataclass(frozen=True)
class Spec:
    """What a level allows. `check` raises SpecError at the first op that is not allowed."""

    level: Level
    check: Callable[[ir.Module], None]


def refuse(level: Level, op: ir.Operation | ir.OpView, why: str) -> SpecError:
    """The error for an op a level does not allow."""
    return SpecError(f"level {level.value} does not allow '{op.operation.name}' {why} (at {describe(op.location)})")


def require_ops(
    level: Level, root: ir.Operation | ir.OpView, names: frozenset[str], dialects: frozenset[str], where: str
) -> None:
    """Every op under `root` is one of `names` or of one of `dialects`. Raises SpecError."""
    wrong = find_op(root, lambda name: name not in names and name.partition(".")[0] not in dialects)
    if wrong is not None:
        raise refuse(level, wrong, where)


def require_static_tensors(level: Level, function: func.FuncOp) -> None:
    """Every argument of the function and every result in it is a ranked tensor of static shape. Raises SpecError."""
    first: dict[ir.Type, ir.Operation] = {}  # each type, and where it is seen first
    for argument in function.arguments:
        first.setdefault(argument.type, function.operation)

    def visit(op: ir.Operation) -> ir.WalkResult:
        for result in op.results:
            first.setdefault(result.type, op)
        return ir.WalkResult.ADVANCE

    function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    for kind, op in first.items():
        _require_static_tensor(level, op, kind)


def _require_static_tensor(level: Level, op: ir.Operation, kind: ir.Type) -> None:
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
        raise refuse(level, op, f"with a value of type {kind}: ranked tensors of static shape only")
    if str(kind.element_type) not in ELEMENTS:
        known = ", ".join(sorted(ELEMENTS))
        raise refuse(level, op, f"with a value of type {kind}: elements are one of {known}")


def require_dense_constants(level: Level, function: func.FuncOp, equal: bool = False) -> None:
    """Constants have their elements in the text; with `equal`, these are all alike. Raises SpecError."""
    for constant in ops_named(function, "arith.constant"):
        value = constant.attributes["value"]
        if not isinstance(value, ir.DenseElementsAttr):
            raise refuse(level, constant, f"of {value}: dense elements only")
        if equal and not value.is_splat:
            raise refuse(level, constant, "of elements that differ inside a kernel: they reach it as arguments")


def require_functions(level: Level, module: ir.Module, others: frozenset[str] = frozenset()) -> dict[str, func.FuncOp]:
    """The functions by name; beside them the module has ops called one of `others` only. Raises SpecError.

    All have a body, but for those of libraries, which are not among them, and none calls @main.
    """
    functions: dict[str, func.FuncOp] = {}
    for op in module.body.operations:
        if isinstance(op, func.FuncOp) and op.is_external and LIBRARY in op.attributes:
            continue
        if isinstance(op, func.FuncOp):
            functions[op.name.value] = op
            if op.is_external:
                raise refuse(level, op, f"@{op.name.value} without a body")
        elif op.operation.name not in others:
            raise refuse(level, op, "beside functions")
    # Those of @main are enough: other functions call libraries only (require_library_calls).
    for call in ops_named(functions["main"], "func.call") if "main" in functions else ():
        if ir.FlatSymbolRefAttr(call.attributes["callee"]).value == "main":
            raise refuse(level, call, "of @main")
        if not _is_strings(call.attributes.get("ai.nodes")):
            raise refuse(level, call, f"with ai.nodes = {call.attributes['ai.nodes']}: names of nodes")
    return functions


def require_library_calls(level: Level, kernel: func.FuncOp, functions: Mapping[str, func.FuncOp]) -> None:
    """The kernel calls functions of libraries only. functions: those of the module. Raises SpecError."""
    for call in ops_named(kernel, "func.call"):
        if ir.FlatSymbolRefAttr(call.attributes["callee"]).value in functions:
            raise refuse(level, call, f"in @{kernel.name.value}: kernels call functions of libraries only")


def check_kernel_attributes(level: Level, kernel: func.FuncOp) -> None:
    """What a kernel says of itself, where it does, is of the kind that passes and the report read. Raises SpecError."""
    attributes, name = kernel.attributes, kernel.name.value
    if not _is_strings(attributes.get("ai.ops")):
        raise refuse(level, kernel, f"@{name} with ai.ops = {attributes['ai.ops']}: names of ops")
    for key in ("ai.flops", "ai.bytes", "ai.scratch", "ai.nanoseconds"):
        value = attributes.get(key)
        if value is not None and not (isinstance(value, ir.IntegerAttr) and value.value >= 0):
            raise refuse(level, kernel, f"@{name} with {key} = {value}: a number, not below 0")
    axes = attributes.get("ai.whole_axes")
    if axes is not None and not isinstance(axes, ir.DenseI64ArrayAttr):
        raise refuse(level, kernel, f"@{name} with ai.whole_axes = {axes}: an array of i64")
    if not isinstance(attributes.get("ai.route", ir.StringAttr.get("")), ir.StringAttr):
        raise refuse(level, kernel, f"@{name} with ai.route = {attributes['ai.route']}: a word")
    stages = attributes.get("ai.stages")
    if not isinstance(stages, ir.ArrayAttr | None) or not all(map(_is_template, stages or [])):
        raise refuse(level, kernel, f"@{name} with ai.stages = {stages}: {_TEMPLATE} each")
    if not _is_template(attributes.get("ai.template", ir.DictAttr.get({}))):
        raise refuse(level, kernel, f"@{name} with ai.template = {attributes['ai.template']}: {_TEMPLATE}")
    if "ai.scratch" in attributes and attributes["ai.scratch"].value >= max(len(kernel.type.inputs), 1):
        raise refuse(level, kernel, f"@{name} with {attributes['ai.scratch']} scratch arguments: it has too few")


def _is_template(attribute: ir.Attribute) -> bool:
    """True for what names a template and its parameters; whether these are right, the template says."""
    kinds = {"name": ir.StringAttr}
    return isinstance(attribute, ir.DictAttr) and all(
        isinstance(item.attr, kinds.get(item.name, ir.IntegerAttr)) for item in attribute
    )


def _is_strings(attribute: ir.Attribute | None) -> bool:
    """True for an array of strings, and for nothing at all."""
    if attribute is None:
        return True
    return isinstance(attribute, ir.ArrayAttr) and all(isinstance(entry, ir.StringAttr) for entry in attribute)


def is_dense(kind: ir.Type) -> TypeGuard[ir.MemRefType]:
    """True for a row-major memref of static shape in the default memory space."""
    if not isinstance(kind, ir.MemRefType) or not kind.has_static_shape:
        return False
    plain = ir.MemRefType.get(kind.shape, kind.element_type, loc=ir.Location.unknown(kind.context))
    return kind == plain


def require_buffers(level: Level, function: func.FuncOp) -> None:
    """Arguments are row-major buffers of static shape: callers hand over bare pointers. Raises SpecError."""
    for kind in function.type.inputs:
        if not is_dense(kind) or str(kind.element_type) not in _STORED:
            what = f"@{function.name.value} with an argument of type {kind}"
            raise refuse(level, function, f"{what}: row-major buffers of static shape, of {', '.join(sorted(_STORED))}")


def require_written(level: Level, main: func.FuncOp) -> None:
    """Every output that has elements is handed to a call of @main, itself or a view of it. Raises SpecError."""
    if "arg_attrs" not in main.attributes:
        return
    for argument, entry in zip(main.arguments, ir.ArrayAttr(main.attributes["arg_attrs"]), strict=True):
        if "ai.output" in ir.DictAttr(entry) and 0 not in argument.type.shape and not _reaches_call(argument):
            raise refuse(
                level, main, f"@main with an output that no call takes: nothing would write {ir.DictAttr(entry)}"
            )


def _reaches_call(buffer: ir.Value) -> bool:
    users = [use.owner.operation for use in buffer.uses]
    return any(user.name == "func.call" or any(map(_reaches_call, user.results)) for user in users)
