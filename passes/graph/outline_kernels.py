"""ai-outline-kernels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects import ext
from aiopt.dialects.ai import GatherOp, IdentityOp, InsertOp, ReshapeOp, Trait
from aiopt.passes.base import Pass, main_function
from aiopt.passes.graph.group_kernels import GROUP
from aiopt.passes.rewrite import (
    PARTITION,
    SMALL_BYTES,
    TARGET,
    WHY,
    copy_placement,
    defining,
    erase_dead,
    flops_of,
    fused_location,
    users,
)
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError

NAMED_OPS = 4  # a kernel's name spells out this many ops
_MOVING = frozenset({"transpose", "slice", "cast"})  # left out of the name of a kernel that multiplies matrices


@dataclass(frozen=True)
class OutlineKernels(Pass):
    """Make each group of ops a private function that @main calls.

    Before: `ai` ops with `ai.group` (from ai-group-kernels). After: @main with constants, views and calls; one
    function for equal kernels; small equal-element constants inside them (but places of a gather, in which kernels may
    differ), all else as arguments in the order of first use. What @main returns is the result of a kernel of its own
    (`ai.identity` is added where it would not be), or with `views` a view of such a result, which no part of a net can
    return (ai-partition).
    """

    name: ClassVar[str] = "ai-outline-kernels"
    requires: ClassVar[Level] = Level.GRAPH
    ensures: ClassVar[Level] = Level.KERNELS
    views: bool = False

    def run(self, unit: Unit) -> None:
        main = main_function(unit.module, self.name)
        _give_results_buffers(main, self.views)
        groups = _groups(main)
        kernels = _Kernels(unit.module)
        for members in groups:
            _outline(members, kernels)
        erase_dead(unit.module)


@dataclass
class _Kernels:
    """The kernel functions made so far, by their text without name and locations."""

    module: ir.Module
    by_text: dict[str, func.FuncOp] = field(default_factory=dict)

    def add(self, function: func.FuncOp, ops: list[str]) -> func.FuncOp:
        """Name a new kernel; where an equal one is known, erase it and return that."""
        text = function.operation.get_asm(use_local_scope=True)  # else all of the module is numbered for each
        known = self.by_text.setdefault(text, function)
        if known is not function:
            function.operation.erase()
            return known
        short = [name.rpartition(".")[2] for name in ops]
        if "matmul" in short:
            short = [name for name in short if name not in _MOVING]
        more = [f"plus{len(short) - NAMED_OPS}"] if len(short) > NAMED_OPS else []
        name = "_".join([*short[:NAMED_OPS], *more, str(len(self.by_text) - 1)])
        function.operation.attributes["sym_name"] = ir.StringAttr.get(name)
        return function


def _give_results_buffers(main: func.FuncOp, views: bool) -> None:
    """Put an `ai.identity` before each returned value that no op computes, or that is returned a second time.

    views: the value that counts is the one that it is a view of.
    """
    ops = list(main.entry_block.operations)
    end = ops[-1]
    number = 1 + max((_group_of(op) for op in ops if GROUP in op.operation.attributes), default=-1)
    seen: list[ir.Value] = []
    for index, value in enumerate(list(end.operands)):
        owner = defining(value)
        viewed = value
        while views and isinstance(view := defining(viewed), ReshapeOp):
            viewed = view.input
        made = defining(viewed)
        own = isinstance(made, ext.Operation) and not made.traits & {Trait.VIEW, Trait.CONSTANT}
        if not own or viewed in seen:
            location = owner.location if owner is not None else end.location
            copy = IdentityOp(value, loc=location, ip=ir.InsertionPoint(end))
            if owner is not None:
                copy_placement(owner, copy)
            _set_group(copy, number)
            number += 1
            end.operands[index] = copy.operation.results[0]
        seen.append(viewed)


def _groups(main: func.FuncOp) -> list[list[ext.Operation]]:
    """The members of each group in order; groups in the order of their results. Raises CompileError on bad groups."""
    groups: dict[int, list[ext.Operation]] = {}
    for op in main.entry_block.operations:
        if isinstance(op, ext.Operation) and Trait.CONSTANT not in op.traits:
            if GROUP in op.operation.attributes:
                groups.setdefault(_group_of(op), []).append(op)
            elif Trait.VIEW not in op.traits:
                raise CompileError(f"{_title(op)} has no {GROUP}: run ai-group-kernels before ai-outline-kernels")
    last = {members[-1].operation: members for members in groups.values()}
    for number, members in groups.items():
        inside = {op.operation for op in members}
        for op in members[:-1]:
            if any(user.operation not in inside for user in users(op.operation.results[0])):
                raise CompileError(f"{GROUP} {number} has more than one result: {_title(op)} is used outside it")
    return [last[op.operation] for op in main.entry_block.operations if op.operation in last]


def _outline(members: list[ext.Operation], kernels: _Kernels) -> None:
    """Move the ops of a group into a function and call that where the last of them was."""
    result = members[-1].operation.results[0]
    constants, arguments = _inputs(members)
    location = fused_location([op.location for op in members])
    at = ir.InsertionPoint(members[-1])
    call = func.CallOp([result.type], ir.FlatSymbolRefAttr.get("kernel"), arguments, loc=location, ip=at)
    call.operation.attributes["ai.nodes"] = _strings(ext.node_names(location))
    placed = members[-1].operation.attributes
    if PARTITION in placed:
        call.operation.attributes[PARTITION] = placed[PARTITION]
    reasons = [ir.StringAttr(op.operation.attributes[WHY]).value for op in members if WHY in op.operation.attributes]
    if reasons:
        call.operation.attributes[WHY] = ir.StringAttr.get("; ".join(dict.fromkeys(reasons)))
    result.replace_all_uses_with(call.results[0])
    function = _build_function(kernels.module, members, arguments, constants, location)
    ops = [op.OPERATION_NAME for op in members]
    function = kernels.add(function, ops)
    call.operation.attributes["callee"] = ir.FlatSymbolRefAttr.get(function.name.value)


def _build_function(
    module: ir.Module,
    members: list[ext.Operation],
    arguments: list[ir.Value],
    constants: dict[ir.Value, arith.ConstantOp],
    location: ir.Location,
) -> func.FuncOp:
    """A private function of the members, moved there, with clones of the constants; called @kernel until named."""
    result = members[-1].operation.results[0]
    kind = ir.FunctionType.get([value.type for value in arguments], [result.type])
    function = func.FuncOp("kernel", kind, visibility="private", loc=location, ip=ir.InsertionPoint(module.body))
    _describe(function, members, arguments)
    block = function.add_entry_block([location] * len(arguments))
    at = ir.InsertionPoint(block)
    inner = dict(zip(arguments, block.arguments, strict=True))
    inner |= {value: constant.operation.clone(at).operation.results[0] for value, constant in constants.items()}
    for op in members:
        block.append(op)
        for key in (GROUP, TARGET, PARTITION, WHY):
            if key in op.operation.attributes:
                del op.operation.attributes[key]
        for index, value in enumerate(op.operation.operands):
            if value in inner:
                op.operation.operands[index] = inner[value]
    func.ReturnOp([result], loc=location, ip=at)
    return function


def _describe(function: func.FuncOp, members: list[ext.Operation], arguments: list[ir.Value]) -> None:
    """Set the attributes that docs/levels.md asks of a kernel."""
    last = members[-1]
    values = [*arguments, last.operation.results[0]]
    if isinstance(last, InsertOp):  # what it leaves is not moved
        values = [*(value for value in arguments if value not in _given(last.into)), last.input]
    attributes = function.operation.attributes
    attributes["ai.kernel"] = ir.UnitAttr.get()
    attributes["ai.ops"] = _strings(op.OPERATION_NAME for op in members)
    attributes["ai.flops"] = _integer(sum(flops_of(op) for op in members))
    attributes["ai.bytes"] = _integer(sum(ext.type_of(value).nbytes for value in values))
    if TARGET in members[-1].operation.attributes:
        attributes[TARGET] = members[-1].operation.attributes[TARGET]


def _given(operand: ir.Value | None) -> list[ir.Value]:
    return [] if operand is None else [operand]


def _inputs(members: list[ext.Operation]) -> tuple[dict[ir.Value, arith.ConstantOp], list[ir.Value]]:
    """What a group reads from outside, in the order of first use: constants to be cloned, and arguments.

    Places that are gathered are arguments: kernels that take different parts of a tensor are one.
    """
    inside = {op.operation for op in members}
    places = {op.indices for op in members if isinstance(op, GatherOp)}
    constants: dict[ir.Value, arith.ConstantOp] = {}
    arguments: list[ir.Value] = []
    for value in dict.fromkeys(value for op in members for value in op.operation.operands):
        owner = defining(value)
        if isinstance(owner, arith.ConstantOp) and _is_small_splat(owner) and value not in places:
            constants[value] = owner
        elif owner is None or owner.operation not in inside:
            arguments.append(value)
    return constants, arguments


def _is_small_splat(constant: arith.ConstantOp) -> bool:
    attribute = constant.attributes["value"]
    dense = isinstance(attribute, ir.DenseElementsAttr)
    return dense and attribute.is_splat and ext.type_of(constant.result).nbytes <= SMALL_BYTES


def _group_of(op: ir.OpView) -> int:
    attribute = op.operation.attributes[GROUP]
    if not isinstance(attribute, ir.IntegerAttr):
        raise CompileError(f"{_title(op)}: {GROUP} must be a whole number, but is {attribute}")
    return attribute.value


def _set_group(op: ext.Operation, number: int) -> None:
    op.operation.attributes[GROUP] = _integer(number)


def _title(op: ir.OpView) -> str:
    return f"'{op.operation.name}' (at {ext.describe(op.location)})"


def _integer(value: int) -> ir.IntegerAttr:
    """A count; beyond 64 bits, where no machine would come to an end, the largest one."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), min(value, (1 << 63) - 1))


def _strings(values: Iterable[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.StringAttr.get(value) for value in values])
