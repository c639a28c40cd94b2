"""ai-outline-linalg: a function on tensors, written by another front end, becomes @main and its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from mlir import ir
from mlir.dialects import bufferization, func, memref

from aiopt.dialects import ext
from aiopt.dialects.ext import type_of
from aiopt.passes.base import Pass
from aiopt.passes.lower.convert_ai_to_linalg import constant_buffer, viewed
from aiopt.passes.lower.linalg.builder import memref_type, tensor_type
from aiopt.passes.lower.linalg_roles import Role, entry_function, literal_value, role, used_values
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError, UnsupportedError
from aiopt.support.types import ELEMENTS, storage_element


@dataclass(frozen=True)
class OutlineLinalg(Pass):
    """Make a function of upstream's dialects on tensors, such as torch-mlir writes, a net of level tensor.

    Before: one public function on static tensors, of linalg, tensor, arith and math. After: @main on buffers, which
    calls a kernel for each op that computes; fills, pads, broadcasts and slices are made again in each kernel that
    reads them, other shapes of one tensor are views, and constants become weights.

    Errors: several public functions and none called @main; dynamic shapes; bool or index where kernels meet.
    """

    name: ClassVar[str] = "ai-outline-linalg"
    ensures: ClassVar[Level | None] = Level.TENSOR

    def run(self, unit: Unit) -> None:
        if unit.level is not None:
            raise CompileError(f"{self.name} takes IR from elsewhere, but this is of level {unit.level.value}")
        old = entry_function(unit.module)
        _Outliner(old, unit).run()
        old.operation.erase()


@dataclass
class _Outliner:
    """Builds the new @main beside the old function."""

    old: func.FuncOp
    unit: Unit
    roles: dict[ir.Operation, Role] = field(default_factory=dict)
    buffers: dict[ir.Value, ir.Value] = field(default_factory=dict)
    count: int = 0

    def run(self) -> None:
        block = self.old.entry_block
        *ops, end = block.operations
        for value in (*block.arguments, *end.operands):
            _checked(value, self.old)
        for op in ops:
            self.roles[op.operation] = role(op, self.roles)
        inputs, outputs = list(self.old.type.inputs), list(self.old.type.results)
        kinds = [memref_type(type_of(kind)) for kind in (*inputs, *outputs)]
        with self.old.location:
            main = func.FuncOp("main", (kinds, []), ip=ir.InsertionPoint.at_block_begin(self.unit.module.body))
        main.attributes["arg_attrs"] = _attributes(self.old)
        arguments = list(main.add_entry_block().arguments)
        self.buffers.update(zip(block.arguments, arguments, strict=False))
        with ir.InsertionPoint(main.entry_block):
            direct = self._direct_outputs(list(end.operands), arguments[len(inputs) :])
            for op in ops:
                with op.location:
                    self._convert(op, direct)
            for value, destination in zip(end.operands, arguments[len(inputs) :], strict=True):
                if destination not in direct.values():
                    with self.old.location:
                        self._call([value], [destination], None)
            func.ReturnOp([])

    def _direct_outputs(
        self, returned: Sequence[ir.Value], destinations: Sequence[ir.Value]
    ) -> dict[ir.Value, ir.Value]:
        """The kernel results that are returned, themselves or in another shape, with the outputs they go to."""
        found: dict[ir.Value, ir.Value] = {}
        for value, destination in zip(returned, destinations, strict=True):
            source = value
            while self._role_of(source) is Role.VIEW:
                source = source.owner.operation.operands[0]
            if self._role_of(source) is Role.KERNEL and source not in found:
                found[source] = destination
        return found

    def _role_of(self, value: ir.Value) -> Role | None:
        return self.roles[value.owner.operation] if isinstance(value, ir.OpResult) else None

    def _convert(self, op: ir.OpView, direct: dict[ir.Value, ir.Value]) -> None:
        kind = self.roles[op.operation]
        if kind is Role.CONSTANT:
            key = self.unit.weights.add("constant", literal_value(op, self.unit.module))  # pyright: ignore[reportArgumentType]
            self.buffers[op.results[0]] = constant_buffer(key, type_of(op.results[0]))
        elif kind is Role.VIEW:
            self.buffers[op.results[0]] = viewed(self.buffers[op.operands[0]], type_of(op.results[0]))
        elif kind is Role.KERNEL:
            results = [value for value in op.results if any(value.uses)]
            for value in results:
                _checked(value, op)
            self.buffers.update((value, self._destination(value, direct)) for value in results)
            if results:
                self._call(results, [self.buffers[value] for value in results], op)

    def _destination(self, value: ir.Value, direct: dict[ir.Value, ir.Value]) -> ir.Value:
        kind = type_of(value)
        if value not in direct:
            return memref.AllocOp(memref_type(kind), [], []).result
        output = direct[value]
        return output if output.type == memref_type(kind) else viewed(output, kind)

    def _call(self, values: Sequence[ir.Value], destinations: Sequence[ir.Value], op: ir.OpView | None) -> None:
        """Make a kernel that computes values from buffers by an op, None to copy them, and call it."""
        name = "tensor.copy" if op is None else op.operation.name
        inputs, members = self._slice(values if op is None else used_values(op.operation))
        members += [] if op is None else [op.operation]
        for value in inputs:
            _checked(value, self.old)
        operands = [*(self.buffers[value] for value in inputs), *destinations]
        kernel = self._kernel(f"{name.rpartition('.')[2]}_{self.count}", inputs, members, values, operands)
        self.count += 1
        kernel.attributes["ai.ops"] = ir.ArrayAttr.get([ir.StringAttr.get(name)])
        call = func.CallOp([], kernel.name.value, operands)
        if op is not None and (nodes := ext.node_names(op.location)):
            call.attributes["ai.nodes"] = ir.ArrayAttr.get([ir.StringAttr.get(node) for node in nodes])

    def _slice(self, values: Sequence[ir.Value]) -> tuple[list[ir.Value], list[ir.Operation]]:
        """The buffers that some values are, or are made from, and the ops to make them with, in order."""
        inputs: dict[ir.Value, None] = {}
        members: dict[ir.Operation, None] = {}

        def visit(value: ir.Value) -> None:
            if value in self.buffers:
                inputs[value] = None
                return
            op = value.owner.operation
            if op not in members:
                for operand in used_values(op):
                    visit(operand)
                members[op] = None

        for value in values:
            visit(value)
        return list(inputs), list(members)

    def _kernel(
        self,
        name: str,
        inputs: Sequence[ir.Value],
        members: Sequence[ir.Operation],
        values: Sequence[ir.Value],
        operands: Sequence[ir.Value],
    ) -> func.FuncOp:
        end = ir.InsertionPoint(self.unit.module.body)
        kernel = func.FuncOp(name, ([v.type for v in operands], []), visibility="private", ip=end)
        kernel.attributes["ai.kernel"] = ir.UnitAttr.get()
        arguments = list(kernel.add_entry_block().arguments)
        inside: dict[ir.Value, ir.Value] = {}
        with ir.InsertionPoint(kernel.entry_block):
            for value, argument in zip(inputs, arguments, strict=False):
                inside[value] = bufferization.to_tensor(tensor_type(type_of(value)), argument, restrict=True)
            for op in members:
                clone = op.clone()
                _remap(clone, inside)
                inside.update(zip(op.results, clone.operation.results, strict=True))
            for value, destination in zip(values, arguments[len(inputs) :], strict=True):
                bufferization.materialize_in_destination(None, inside[value], destination, restrict=True, writable=True)
            func.ReturnOp([])
        return kernel


def _remap(op: ir.Operation | ir.OpView, inside: dict[ir.Value, ir.Value]) -> None:
    for inner in (op, *ext.operations(op)):
        for number, operand in enumerate(inner.operation.operands):
            if operand in inside:
                inner.operation.operands[number] = inside[operand]


def _attributes(old: func.FuncOp) -> ir.ArrayAttr:
    """aiopt's own attributes of arguments and results; those of other dialects mean nothing here."""

    def kept(key: str, count: int, extra: dict[str, ir.Attribute]) -> list[ir.DictAttr]:
        given = list(old.attributes[key]) if key in old.attributes else [ir.DictAttr.get({})] * count
        own = [{item.name: item.attr for item in entry if item.name.startswith("ai.")} for entry in given]
        return [ir.DictAttr.get({**entry, **extra}) for entry in own]

    inputs = kept("arg_attrs", len(old.type.inputs), {})
    return ir.ArrayAttr.get(inputs + kept("res_attrs", len(old.type.results), {"ai.output": ir.UnitAttr.get()}))


def _checked(value: ir.Value, at: ir.OpView) -> None:
    """Raise UnsupportedError for what cannot be a buffer between kernels."""
    kind = value.type
    static = isinstance(kind, ir.RankedTensorType) and kind.has_static_shape and 0 not in kind.shape
    element = str(kind.element_type) if isinstance(kind, ir.RankedTensorType) else ""
    if not static or element not in ELEMENTS or storage_element(element) != element:
        raise UnsupportedError(
            f"{OutlineLinalg.name}: '{at.operation.name}' has a value of type {kind} (at {ext.describe(at.location)}): "
            "kernels exchange tensors of static shape that have elements, floats or signless integers of 8 bits or more"
        )
