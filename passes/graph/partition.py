"""ai-partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.dialects.ai import Trait
from aiopt.passes.base import Pass, functions, main_function
from aiopt.passes.graph import placement
from aiopt.passes.rewrite import PARTITION, TARGET, defining, erase_dead, fused_location, users
from aiopt.passes.spec.base import Level
from aiopt.passes.spec.parts import PART
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError


@dataclass(frozen=True)
class Partition(Pass):
    """Make each largest convex set of kernels of one target a function that @main calls.

    Before: @main with constants, views and calls of kernels that have `ai.target`. After: @main with calls of parts
    alone, in an order in which each comes after those it reads; a part has the constants and views its kernels read,
    takes what other parts or the caller of @main gave, and returns what is used outside it.
    """

    name: ClassVar[str] = "ai-partition"
    requires: ClassVar[Level] = Level.KERNELS
    ensures: ClassVar[Level] = Level.PARTS

    def run(self, unit: Unit) -> None:
        kernels = {function.name.value: function for function in functions(unit.module)}
        main = main_function(unit.module, self.name)
        calls = [op for op in main.entry_block.operations if isinstance(op, func.CallOp)]
        targets = [_target_of(kernels.get(call.callee.value), call) for call in calls]
        *_, end = main.entry_block.operations
        if any(_is_view(owner) for value in end.operands if (owner := defining(value)) is not None):
            raise CompileError(f"{self.name}: @main returns views of results: run ai-outline-kernels without views")
        index = {call.operation: number for number, call in enumerate(calls)}
        reads = [[index[source] for source in _sources(call) if source in index] for call in calls]
        parts = placement.partition(targets, reads)
        at = ir.InsertionPoint(main.entry_block.operations[len(main.entry_block.operations) - 1])
        for number in range(max(parts, default=-1) + 1):
            members = [call for call, part in zip(calls, parts, strict=True) if part == number]
            target = targets[parts.index(number)]
            _outline(unit.module, members, f"part_{number}_{target}", target, at)
        erase_dead(unit.module)


def _target_of(kernel: func.FuncOp | None, call: func.CallOp) -> str:
    target = None if kernel is None else kernel.attributes.get(TARGET)
    if not isinstance(target, ir.StringAttr):
        raise CompileError(f"kernel @{call.callee.value} has no {TARGET}: run ai-assign-target before ai-partition")
    return target.value


def _sources(call: func.CallOp) -> list[ir.Operation]:
    """The ops whose results a call reads, itself or through views."""
    found = []
    for value in call.operands:
        owner = _behind_views(value)
        if owner is not None:
            found.append(owner.operation)
    return found


def _behind_views(value: ir.Value) -> ir.OpView | None:
    owner = defining(value)
    while owner is not None and _is_view(owner):
        owner = defining(owner.operation.operands[0])
    return owner


def _outline(module: ir.Module, members: Sequence[func.CallOp], name: str, target: str, at: ir.InsertionPoint) -> None:
    """Move the calls of a part into a function of this name, and call that at `at`."""
    inside = {call.operation for call in members}
    results = [value for call in members for value in call.results if _leaves(value, inside)]
    inputs: dict[ir.Value, None] = {}
    for call in members:
        for value in call.operands:
            _collect_inputs(value, inside, inputs)
    location = fused_location([call.location for call in members])
    kind = ir.FunctionType.get([value.type for value in inputs], [value.type for value in results])
    function = func.FuncOp(name, kind, visibility="private", loc=location, ip=ir.InsertionPoint(module.body))
    function.attributes[PART] = ir.UnitAttr.get()
    function.attributes[TARGET] = ir.StringAttr.get(target)
    block = function.add_entry_block([location] * len(inputs))
    _fill(block, members, dict(zip(inputs, block.arguments, strict=True)))
    callee = ir.FlatSymbolRefAttr.get(name)
    outer = func.CallOp([value.type for value in results], callee, list(inputs), loc=location, ip=at)
    for value, result in zip(results, outer.results, strict=True):
        for use in list(value.uses):
            if use.owner.operation.parent != function.operation:
                use.owner.operation.operands[use.operand_number] = result
    func.ReturnOp(results, loc=location, ip=ir.InsertionPoint(block))


def _leaves(value: ir.Value, inside: set[ir.Operation]) -> bool:
    """True if something outside the part reads the value, itself or through views."""
    for user in users(value):
        if _is_view(user):
            if _leaves(user.operation.results[0], inside):
                return True
        elif user.operation not in inside:
            return True
    return False


def _collect_inputs(value: ir.Value, inside: set[ir.Operation], inputs: dict[ir.Value, None]) -> None:
    """Add what a part that reads the value has to be given for that."""
    owner = defining(value)
    if owner is not None and _is_view(owner):
        _collect_inputs(owner.operation.operands[0], inside, inputs)
    elif owner is None or (isinstance(owner, func.CallOp) and owner.operation not in inside):
        inputs[value] = None


def _fill(block: ir.Block, members: Sequence[func.CallOp], inputs: dict[ir.Value, ir.Value]) -> None:
    """Move the calls into the part, with copies of the constants and views they read; inputs: what stands for them."""
    at = ir.InsertionPoint(block)
    inner = inputs | {value: value for call in members for value in call.results}
    for call in members:
        for number, value in enumerate(call.operands):
            call.operation.operands[number] = _bring(value, inner, at)
        block.append(call)
        if PARTITION in call.attributes:  # numbers of ops, not of parts
            del call.attributes[PARTITION]


def _bring(value: ir.Value, inner: dict[ir.Value, ir.Value], at: ir.InsertionPoint) -> ir.Value:
    """What stands for the value in the part; constants and views are copied there."""
    owner = defining(value)
    if value not in inner and owner is not None:
        operands = [_bring(operand, inner, at) for operand in owner.operation.operands]
        copy = owner.operation.clone(at)
        for number, operand in enumerate(operands):
            copy.operation.operands[number] = operand
        inner[value] = copy.operation.results[0]
    return inner[value]


def _is_view(op: ir.OpView) -> bool:
    return isinstance(op, ext.Operation) and Trait.VIEW in op.traits
