"""From KERNELS to TENSOR: kernels become destination-passing on buffers, their bodies linalg on tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from mlir import ir
from mlir.dialects import arith, bufferization, func, memref

from aiopt.dialects import ai
from aiopt.dialects.ai import Trait
from aiopt.dialects.ai.packing import CHANNELS_LAST
from aiopt.dialects.ext import Operation, dense_array, type_of
from aiopt.passes.base import Pass, functions
from aiopt.passes.lower.linalg.builder import empty, memref_type, stored, tensor_type
from aiopt.passes.lower.linalg.rules import RULES, Operand, Squeezed, reassociation, splat_operand
from aiopt.passes.rewrite import CALL_ATTRIBUTES
from aiopt.passes.spec.base import Level
from aiopt.passes.spec.inserts import completed, insertion_of
from aiopt.passes.spec.kernels import viewed_value
from aiopt.passes.templates.access import row_major
from aiopt.passes.templates.emit_kernel import emit_kernel
from aiopt.passes.templates.registry import read_choice
from aiopt.passes.unit import Unit
from aiopt.support.errors import UnsupportedError
from aiopt.support.types import TensorType


@dataclass(frozen=True)
class ConvertAiToLinalg(Pass):
    """Before: kernels of `ai` ops on tensors, called by @main. After: kernels of linalg ops, destinations as arguments.

    Each op is lowered by the rule of its class (`passes/lower/linalg`), but a kernel of the route "template" (see
    ai-select-route) as a whole by its template, to loops on buffers that later passes leave as they are. In @main every
    kernel result becomes an allocation or one of the output arguments, every constant a buffer, every view a
    reinterpret_cast. What has no elements gets no buffer: kernels do not take it, and those that would make it go, with
    their calls; only @main keeps such inputs and outputs.
    """

    name: ClassVar[str] = "convert-ai-to-linalg"
    requires = Level.KERNELS
    ensures = Level.TENSOR

    def run(self, unit: Unit) -> None:
        kernels = {function.name.value: function for function in functions(unit.module)}
        insertions = {name: insertion_of(function) for name, function in kernels.items()}
        if (main := kernels.pop("main", None)) is not None:
            _convert_main(main, unit, {name: found for name, found in insertions.items() if found is not None})
        for function in kernels.values():
            _convert_kernel(function)


def _convert_kernel(old: func.FuncOp) -> None:
    block = old.entry_block
    insertion = insertion_of(old)
    completed = [] if insertion is None or insertion.into is None else [insertion.into]
    arguments = [value for value in block.arguments if value not in completed]
    inputs = [type_of(argument) for argument in arguments]
    outputs = [type_of(kind) for kind in old.type.results]
    if not any(kind.size for kind in outputs):
        old.erase()
        return
    new = _declare(old, [memref_type(kind) for kind in inputs + outputs if kind.size])
    if choice := read_choice(old):
        with ir.InsertionPoint(new.add_entry_block()), old.location:
            results = block.operations[len(block.operations) - 1].operands
            buffers = dict(zip([*arguments, *results], new.arguments, strict=True))
            emit_kernel(old, choice, buffers)
            func.ReturnOp([])
        old.erase()
        return
    if any(isinstance(op, Operation) and "layout" in op.python_attributes() for op in block.operations):
        new.attributes["ai.layout"] = ir.StringAttr.get(CHANNELS_LAST)
    new.attributes["ai.whole_axes"] = ir.DenseI64ArrayAttr.get(_folded_axes(block, outputs[0].rank))
    with ir.InsertionPoint(new.add_entry_block()):
        lowered: dict[ir.Value, Operand] = {}
        remaining = iter(new.arguments)
        for argument, kind in zip(arguments, inputs, strict=True):
            value = (
                bufferization.to_tensor(tensor_type(kind), next(remaining), restrict=True) if kind.size else empty(kind)
            )
            lowered[argument] = Operand(kind, value)
        for op in block.operations:
            with op.location:
                if isinstance(op, ai.InsertOp):
                    lowered[op.out] = lowered[op.input]  # stored in its place
                elif isinstance(op, ai.SliceOp) and op.input in completed:
                    part = _part(new.arguments[len(new.arguments) - 1], type_of(op.out), list(op.starts))
                    read = bufferization.to_tensor(tensor_type(type_of(op.out)), part, restrict=True)  # another part
                    lowered[op.out] = Operand(type_of(op.out), read)
                elif isinstance(op, func.ReturnOp) and insertion is not None:
                    _store_results([lowered[insertion.out]], [_place(insertion, next(remaining))])
                elif isinstance(op, func.ReturnOp):
                    _store_results([lowered[value] for value in op.operands if type_of(value).size], list(remaining))
                else:
                    _convert_op(op, lowered)
    old.erase()


def _folded_axes(block: ir.Block, rank: int) -> list[int]:
    """Axes of the kernel's result that an op folds and later ops spread again: tiling them would repeat the fold."""
    axes: set[int] = set()
    for op in block.operations:
        if not isinstance(op, Operation) or any(type_of(v).rank != rank for v in (op.results[0], op.operands[0])):
            continue
        if isinstance(op, ai.SoftmaxOp):
            axes.add(op.axis.value)
        elif isinstance(op, ai.LayerNormOp):
            axes.update(range(op.axis.value, rank))
        elif Trait.REDUCTION in op.traits:
            axes.update(op.python_attributes()["axes"])
    return sorted(axes)


def _convert_op(op: ir.OpView, lowered: dict[ir.Value, Operand]) -> None:
    if isinstance(op, arith.ConstantOp):
        splat = splat_operand(op.result)
        assert splat is not None, "constants inside kernels have equal elements"
        lowered[op.result] = splat
        return
    rule = RULES.get(type(op))  # pyright: ignore[reportArgumentType]
    if rule is None or not isinstance(op, Operation):
        raise UnsupportedError(f"convert-ai-to-linalg has no rule for {op.operation.name}")
    out = type_of(op.results[0])
    if out.size == 0:  # nothing to compute, whatever the operands: upstream does not take all slices and pads of size 0
        lowered[op.results[0]] = Operand(out, empty(out))
        return
    operands = [
        [lowered[v] for v in group] if isinstance(group, list) else None if group is None else lowered[group]
        for group in op.operand_groups()
    ]
    lowered[op.results[0]] = Operand(out, rule(op, *operands))


def _store_results(results: list[Operand], destinations: list[ir.Value]) -> None:
    for operand, destination in zip(results, destinations, strict=True):
        value, target = operand.lowered, destination
        if isinstance(value, Squeezed):
            target = _collapsed(value, operand.type, destination)
            value = value.value
        elif value is None:
            value = operand.value
        bufferization.materialize_in_destination(None, value, target, restrict=True, writable=True)
    func.ReturnOp([])


def _place(insertion: ai.InsertOp, whole: ir.Value) -> ir.Value:
    """The part of a buffer that a kernel writes."""
    kind, axis = type_of(insertion.input), insertion.axis.value
    return _part(whole, kind, [insertion.start.value if a == axis else 0 for a in range(kind.rank)])


def _part(whole: ir.Value, kind: TensorType, starts: list[int]) -> ir.Value:
    """The part of a buffer from these elements on."""
    buffer = ir.MemRefType(whole.type)
    strides = row_major(buffer.shape)
    offset = sum(start * stride for start, stride in zip(starts, strides, strict=True))
    view = ir.MemRefType.get(list(kind.shape), buffer.element_type, ir.StridedLayoutAttr.get(offset, strides))
    return memref.SubViewOp(view, whole, [], [], [], starts, list(kind.shape), [1] * kind.rank).result


def _collapsed(squeezed: Squeezed, kind: TensorType, destination: ir.Value) -> ir.Value:
    """The destination without the size-1 axes, so that the value is stored without changing its shape first."""
    view = ir.MemRefType.get(list(squeezed.value.type.shape), squeezed.value.type.element_type)
    groups = reassociation(squeezed, kind.rank)
    return memref.CollapseShapeOp(view, destination, groups).result


def _convert_main(old: func.FuncOp, unit: Unit, insertions: Mapping[str, ai.InsertOp]) -> None:
    block = old.entry_block
    inputs, outputs = list(old.type.inputs), list(old.type.results)
    new = _declare(old, [memref_type(type_of(kind)) for kind in inputs + outputs])
    new.attributes["arg_attrs"] = _argument_attributes(old)
    with ir.InsertionPoint(new.add_entry_block()):
        buffers: dict[ir.Value, ir.Value] = dict(zip(block.arguments, new.arguments, strict=False))
        terminator = block.operations[len(block.operations) - 1]
        made = [viewed_value(value) for value in terminator.operands]
        outputs_given = zip(made, list(new.arguments)[len(inputs) :], strict=True)
        returned = {value: _as_made(value, buffer) for value, buffer in outputs_given}
        _share_buffers(block, insertions, returned)
        for op in block.operations:
            with op.location:
                _convert_main_op(op, buffers, returned, unit, insertions)
    old.erase()


def _convert_main_op(
    op: ir.OpView,
    buffers: dict[ir.Value, ir.Value],
    returned: dict[ir.Value, ir.Value],
    unit: Unit,
    insertions: Mapping[str, ai.InsertOp],
) -> None:
    if op.results and not any(type_of(result).size for result in op.results):
        return
    if isinstance(op, func.CallOp):
        into, given = _into(op, insertions.get(op.callee.value))
        if into is not None:
            results = [buffers[into]]
        else:
            results = [returned[r] if r in returned else _allocate(type_of(r)) for r in op.results if type_of(r).size]
        call = func.CallOp([], op.callee, [*(buffers[v] for v in given if type_of(v).size), *results])
        for key in CALL_ATTRIBUTES:
            if key in op.attributes:
                call.attributes[key] = op.attributes[key]
        buffers.update(zip([r for r in op.results if type_of(r).size], results, strict=True))
    elif isinstance(op, ai.ReshapeOp):
        buffers[op.out] = viewed(buffers[op.input], type_of(op.out))
    elif isinstance(op, ai.ConstantOp):
        buffers[op.results[0]] = constant_buffer(op.key.value, type_of(op.results[0]))
    elif isinstance(op, arith.ConstantOp):
        kind = type_of(op.result)
        values = dense_array(ir.DenseElementsAttr(op.value), kind)
        buffers[op.result] = constant_buffer(unit.weights.add("constant", values), kind)
    else:
        func.ReturnOp([])


def _into(call: func.CallOp, insertion: ai.InsertOp | None) -> tuple[ir.Value | None, list[ir.Value]]:
    """The operand of a call whose buffer it completes, and the others."""
    number = completed(call, insertion)
    if number is None:
        return None, list(call.operands)
    return call.operands[number], [value for i, value in enumerate(call.operands) if i != number]


def _share_buffers(block: ir.Block, insertions: Mapping[str, ai.InsertOp], returned: dict[ir.Value, ir.Value]) -> None:
    """Where what calls complete one after the other is returned, the first one has to write to it, too."""
    for op in reversed(list(block.operations)):
        if not isinstance(op, func.CallOp):
            continue
        into, _ = _into(op, insertions.get(op.callee.value))
        if into is not None and op.results[0] in returned:
            returned[into] = returned[op.results[0]]


def constant_buffer(key: str, kind: TensorType) -> ir.Value:
    """A constant of the WeightStore as a buffer."""
    constant = ai.ConstantOp(key=key, results=[stored(kind)])
    return bufferization.to_buffer(memref_type(kind), constant.results[0], read_only=True)


def _as_made(value: ir.Value, output: ir.Value) -> ir.Value:
    """The buffer of an output in the shape in which a kernel writes it."""
    kind = type_of(value)
    return output if output.type == memref_type(kind) or not kind.size else viewed(output, kind)


def _allocate(kind: TensorType) -> ir.Value:
    return memref.AllocOp(memref_type(kind), [], []).result


def viewed(buffer: ir.Value, kind: TensorType) -> ir.Value:
    """A row-major buffer with another shape of as many elements."""
    strides = [int(np.prod(kind.shape[axis + 1 :], dtype=np.int64)) for axis in range(kind.rank)]
    return memref.ReinterpretCastOp(memref_type(kind), buffer, [], [], [], [0], list(kind.shape), strides).result


def _declare(old: func.FuncOp, inputs: list[ir.Type]) -> func.FuncOp:
    """A function of the same name, attributes and place, taking `inputs` and returning nothing."""
    visibility = old.visibility.value if "sym_visibility" in old.attributes else None
    with old.location:
        new = func.FuncOp(old.name.value, (inputs, []), visibility=visibility, ip=ir.InsertionPoint(old))
    for key in old.attributes:
        if key not in ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"):
            new.attributes[key] = old.attributes[key]
    return new


def _argument_attributes(old: func.FuncOp) -> ir.ArrayAttr:
    """The attributes of arguments and results in one list; `ai.element` keeps the element type memory does not show."""

    def declared(key: str, kinds: list[ir.Type], extra: dict[str, ir.Attribute]) -> list[ir.DictAttr]:
        given = old.attributes[key] if key in old.attributes else [ir.DictAttr.get({})] * len(kinds)
        entries = []
        for entry, kind in zip(given, map(type_of, kinds), strict=True):
            element = {} if stored(kind) == kind else {"ai.element": ir.StringAttr.get(kind.element)}
            entries.append(ir.DictAttr.get({**{item.name: item.attr for item in entry}, **element, **extra}))
        return entries

    outputs = declared("res_attrs", list(old.type.results), {"ai.output": ir.UnitAttr.get()})
    return ir.ArrayAttr.get(declared("arg_attrs", list(old.type.inputs), {}) + outputs)
