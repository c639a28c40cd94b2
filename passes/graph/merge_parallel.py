"""ai-merge-parallel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.dialects.ai import ConvOp, MatMulOp, SliceOp, Trait
from aiopt.dialects.ai.winograd import SIZES
from aiopt.passes.base import FunctionPass
from aiopt.passes.remark import MISSED, PASSED, Remark
from aiopt.passes.rewrite import (
    PARTITION,
    constant_value,
    copy_placement,
    erase_dead,
    fused_location,
    has_one_use,
    make_constant,
    users,
)
from aiopt.passes.spec.base import Level
from aiopt.passes.templates.base import Facts
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.registry import least_cost
from aiopt.passes.unit import Unit

_LAUNCH_CYCLES = 4000.0
Branch = tuple[ext.Operation, list[ext.Operation]]  # a convolution and the activation that follows it, in order


@dataclass(frozen=True)
class MergeParallel(FunctionPass):
    """Before: convolutions of one input with constant weights, alike but for their filters, each with the same
    activation or none. After: one with the filters of all, of whose result their readers take parts.

    Merged are those with channels last whose readers are convolutions, which read a part as well as a whole, where the
    cost model says that one is faster than several: they fill the vectors of filters better, and are one launch. A
    remark says why others, and matrix products that share an operand, are not merged.
    Options: vector-bits, registers, l2-bytes, cores: of the machine.
    """

    name: ClassVar[str] = "ai-merge-parallel"
    requires: ClassVar[Level] = Level.GRAPH
    statistics: ClassVar[Mapping[str, str]] = {"num-merged": "Number of convolutions that are part of another"}
    vector_bits: int = 128
    registers: int = 16
    l2_bytes: int = 524288
    cores: int = 1

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> bool:
        facts = Facts(self.vector_bits, self.registers, self.l2_bytes, self.cores, fma=True, winograd=SIZES)
        sources: dict[ir.Value, list[ext.Operation]] = {}
        for op in ext.operations(function):
            if isinstance(op, (ConvOp, MatMulOp)):
                sources.setdefault(op.operation.operands[0], []).append(op)
        before = unit.counts["num-merged"]
        for group in [alike for ops in sources.values() for alike in _alike(ops)]:
            names = " and ".join(_title(op) for op in group)
            if reason := _refusal(group, unit) or _merge([_branch(op) for op in group], facts, unit):
                what = f"did not merge {names}, which read one input: {reason}"
                unit.remarks.append(Remark(what, MISSED, "not-merged", group[0]))
                continue
            unit.counts["num-merged"] += len(group)
            unit.remarks.append(Remark(f"merged {names}, which read one input", PASSED, "merged", group[0]))
        erase_dead(unit.module)
        return unit.counts["num-merged"] > before


def _alike(ops: Sequence[ext.Operation]) -> list[list[ext.Operation]]:
    """Those of equal attributes, kernel and place, of which there are several."""
    groups: dict[str, list[ext.Operation]] = {}
    for op in ops:
        weight = ext.type_of(op.operation.operands[1])
        kernel = weight.shape[1:] if isinstance(op, ConvOp) else weight.shape[:-1]
        place = op.operation.attributes.get(PARTITION)
        attributes = {**op.python_attributes(), "operandSegmentSizes": None}
        key = f"{type(op).__name__} {kernel} {weight.element} {sorted(map(str, attributes.items()))} {place}"
        groups.setdefault(key, []).append(op)
    return [group for group in groups.values() if len(group) > 1]


def _refusal(ops: Sequence[ext.Operation], unit: Unit) -> str:
    """Why ops cannot be merged; empty if they can."""
    for op in ops:
        if any(constant_value(value, unit) is None for value in list(op.operation.operands)[1:]):
            return "their weights are not all constants"
        if not isinstance(op, ConvOp) or op.layout is None or op.group.value != 1:
            return f"what reads {_title(op)} would have to copy its part"
    branches = [_branch(op) for op in ops]
    if len({tuple(type(step) for step in after) for _, after in branches}) > 1:
        return "what follows differs"
    for op, after in branches:
        result = (after[-1] if after else op).operation.results[0]
        for user in users(result):
            if not isinstance(user, ConvOp) or user.layout is None or user.input != result:
                return f"{_title(user)} would have to copy its part"
            if constant_value(user.weight, unit) is None:
                return f"{_title(user)} would have to copy its part"
    return ""


def _branch(op: ext.Operation) -> Branch:
    """A convolution and the ops of one operand that follow it."""
    after: list[ext.Operation] = []
    value = op.operation.results[0]
    while has_one_use(value):
        user = users(value)[0]
        if not isinstance(user, ext.Operation) or Trait.ELEMENTWISE not in user.traits or len(user.operands) != 1:
            break
        after.append(user)
        value = user.operation.results[0]
    return op, after


def _merge(branches: Sequence[Branch], facts: Facts, unit: Unit) -> str:
    """Put one convolution in the place of several, or say why that is no gain."""
    convs = [conv for conv, _ in branches]
    apart = sum(_cycles(conv, facts) for conv in convs)
    merged = _build(convs, unit)
    together = _cycles(merged, facts)
    if together >= apart:
        merged.operation.erase()
        return f"one would take {together:.0f} cycles, several take {apart:.0f}"
    value, start = merged.operation.results[0], 0
    for step in branches[0][1]:
        made = type(step)(value, loc=step.location, ip=ir.InsertionPoint(branches[0][0]), **step.python_attributes())
        copy_placement(step, made)
        value = made.operation.results[0]
    for conv, after in branches:
        last = after[-1] if after else conv
        shape = list(ext.type_of(last.operation.results[0]).shape)
        _read_parts(last.operation.results[0], value, start, shape)
        start += shape[-1]
    return ""


def _read_parts(old: ir.Value, whole: ir.Value, start: int, shape: list[int]) -> None:
    """Let each reader of a value read its part of another."""
    for use in list(old.uses):
        user = use.owner
        starts = [0] * (len(shape) - 1) + [start]
        part = SliceOp(whole, loc=user.location, ip=ir.InsertionPoint(user), starts=starts, sizes=shape)
        copy_placement(user, part)
        user.operation.operands[use.operand_number] = part.out


def _cycles(conv: ext.Operation, facts: Facts) -> float:
    """What a convolution takes with its launch; no end where no template computes it."""
    cost = least_cost(Contraction(conv, (), True), facts)  # pyright: ignore[reportArgumentType]
    return inf if cost is None else cost + _LAUNCH_CYCLES


def _build(convs: Sequence[ext.Operation], unit: Unit) -> ConvOp:
    """One convolution with the filters of several, before the first of them."""
    first, at = convs[0], ir.InsertionPoint(convs[0])
    location = fused_location([conv.location for conv in convs])
    weight = make_constant(unit, np.concatenate([_array(conv, 1, unit) for conv in convs]), "merged", location, at)
    operands = [first.operation.operands[0], weight]
    if any(len(conv.operation.operands) > 2 for conv in convs):
        bias = np.concatenate([_array(conv, 2, unit) for conv in convs])
        operands.append(make_constant(unit, bias, "merged.bias", location, at))
    attributes = {key: value for key, value in first.python_attributes().items() if key != "operandSegmentSizes"}
    merged = ConvOp(*operands, loc=location, ip=at, **attributes)
    copy_placement(first, merged)
    return merged


def _array(conv: ext.Operation, number: int, unit: Unit) -> np.ndarray:
    """The weight or the bias, zeros where it has none."""
    if number < len(conv.operation.operands):
        array = constant_value(conv.operation.operands[number], unit)
        assert array is not None, "_refusal has asked"
        return array
    return np.zeros(ext.type_of(conv.operation.results[0]).shape[-1:], _array(conv, 1, unit).dtype)


def _title(op: ir.OpView) -> str:
    return "+".join(ext.node_names(op.location)) or op.operation.name
