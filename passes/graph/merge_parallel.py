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
from aiopt.dialects.ai import ConvOp, MatMulOp, ReshapeOp, SliceOp, Trait, TransposeOp
from aiopt.dialects.ai.winograd import SIZES
from aiopt.passes.base import FunctionPass
from aiopt.passes.graph.fuse_layers import LAUNCH_CYCLES
from aiopt.passes.graph.simplify_movement import split_before_slice
from aiopt.passes.remark import MISSED, PASSED, Remark
from aiopt.passes.rewrite import (
    PARTITION,
    constant_value,
    copy_placement,
    erase_dead,
    fused_location,
    has_one_use,
    make_constant,
    rewrite,
    users,
)
from aiopt.passes.spec.base import Level
from aiopt.passes.templates.base import Facts
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.registry import least_cost
from aiopt.passes.unit import Unit
from aiopt.support.errors import OptionError
from aiopt.support.fusion import AUTO, MAX

_MOST_SLOWER = 1.1  # of one beside several, with max


@dataclass(frozen=True)
class Step:
    """An elementwise op behind a contraction, which number of operand it reads it as, and the constant beside that."""

    op: ext.Operation
    number: int
    constant: np.ndarray | None

    @property
    def kind(self) -> tuple[object, ...]:
        """What is the same for steps that can be one."""
        beside = None if self.constant is None else self.constant.dtype
        return type(self.op), str(self.op.python_attributes()), self.number, beside


@dataclass(frozen=True)
class Branch:
    """A contraction, and what follows it in order."""

    root: ConvOp | MatMulOp
    steps: tuple[Step, ...]

    @property
    def result(self) -> ir.Value:
        """What others read."""
        return (self.steps[-1].op if self.steps else self.root).operation.results[0]


@dataclass(frozen=True)
class MergeParallel(FunctionPass):
    """Before: convolutions or matrix products of one input with constant weights, alike but for their filters, each
    followed by the same elementwise ops (of constants at most) or none. After: one with the filters of all, of whose
    result their readers take parts.

    Merged are convolutions with channels last whose readers are convolutions, and products whose readers are products
    (queries, keys and values), which read a part as well as a whole, where the cost model says that one is faster than
    several: they fill the vectors of filters better. A launch less counts for convolutions; for products it is lost
    again on rows that lie farther apart. With fusion=max, all that are not much slower as one. A remark says why others
    are not merged.
    Options: fusion: auto or max; vector-bits, registers, l2-bytes, cores: of the machine.
    """

    name: ClassVar[str] = "ai-merge-parallel"
    requires: ClassVar[Level] = Level.GRAPH
    statistics: ClassVar[Mapping[str, str]] = {
        "num-merged": "Number of convolutions and products that are part of another"
    }
    fusion: str = AUTO
    vector_bits: int = 128
    registers: int = 16
    l2_bytes: int = 524288
    cores: int = 1

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> bool:
        if self.fusion not in (AUTO, MAX):
            raise OptionError(f"{self.name}: option 'fusion' must be {AUTO} or {MAX}, not '{self.fusion}'")
        sources: dict[ir.Value, list[ConvOp | MatMulOp]] = {}
        for op in ext.operations(function):
            if isinstance(op, (ConvOp, MatMulOp)):
                sources.setdefault(op.operation.operands[0], []).append(op)
        before = unit.counts["num-merged"]
        for group in [alike for ops in sources.values() for alike in _alike(ops)]:
            names = " and ".join(_title(op) for op in group)
            branches = [_branch(op, unit) for op in group]
            if reason := _refusal(branches, unit) or self._merge(branches, unit):
                what = f"did not merge {names}, which read one input: {reason}"
                unit.remarks.append(Remark(what, MISSED, "not-merged", group[0]))
                continue
            unit.counts["num-merged"] += len(group)
            unit.remarks.append(Remark(f"merged {names}, which read one input", PASSED, "merged", group[0]))
        erase_dead(unit.module)
        merged = unit.counts["num-merged"] > before
        if merged:
            rewrite(unit, {ReshapeOp: (split_before_slice,)})
        return merged

    def _merge(self, branches: Sequence[Branch], unit: Unit) -> str:
        """Put one contraction in the place of several, or say why that is no gain."""
        facts = Facts(self.vector_bits, self.registers, self.l2_bytes, self.cores, fma=True, winograd=SIZES)
        launch = LAUNCH_CYCLES if isinstance(branches[0].root, ConvOp) else 0
        apart = sum(_cycles(branch.root, facts) + launch for branch in branches)
        merged = _build([branch.root for branch in branches], unit)
        together = _cycles(merged, facts) + launch
        if not together < (_MOST_SLOWER if self.fusion == MAX else 1) * apart:
            merged.operation.erase()
            return f"one would take {together:.0f} cycles, several take {apart:.0f}"
        value, start = _follow(merged, branches, unit), 0
        for branch in branches:
            shape = list(ext.type_of(branch.result).shape)
            _read_parts(branch.result, value, start, shape)
            start += shape[-1]
        return ""


def _alike(ops: Sequence[ConvOp | MatMulOp]) -> list[list[ConvOp | MatMulOp]]:
    """Those of equal attributes, kernel and place, of which there are several."""
    groups: dict[str, list[ConvOp | MatMulOp]] = {}
    for op in ops:
        weight = ext.type_of(op.operation.operands[1])
        kernel = weight.shape[1:] if isinstance(op, ConvOp) else weight.shape[:-1]
        place = op.operation.attributes.get(PARTITION)
        attributes = {**op.python_attributes(), "operandSegmentSizes": None}
        key = f"{type(op).__name__} {kernel} {weight.element} {sorted(map(str, attributes.items()))} {place}"
        groups.setdefault(key, []).append(op)
    return [group for group in groups.values() if len(group) > 1]


def _refusal(branches: Sequence[Branch], unit: Unit) -> str:
    """Why ops cannot be merged; empty if they can."""
    for branch in branches:
        root = branch.root
        if any(constant_value(value, unit) is None for value in list(root.operation.operands)[1:]):
            return "their weights are not all constants"
        if isinstance(root, ConvOp) and (root.layout is None or root.group.value != 1):
            return f"what reads {_title(root)} would have to copy its part"
    if len({tuple(step.kind for step in branch.steps) for branch in branches}) > 1:
        return "what follows differs"
    for branch in branches:
        reads = _reads_filters if isinstance(branch.root, ConvOp) else _reads_columns
        for user in users(branch.result):
            if not reads(user, branch.result, unit):
                return f"{_title(user)} would have to copy its part"
    return ""


def _reads_filters(user: ir.OpView, value: ir.Value, unit: Unit) -> bool:
    """True for convolutions that read some channels of an image as well as all."""
    if not isinstance(user, ConvOp) or user.layout is None or user.input != value:
        return False
    return constant_value(user.weight, unit) is not None


def _reads_columns(user: ir.OpView, value: ir.Value, unit: Unit) -> bool:
    """True for products of two matrices that read some columns as well as all, each head's at most, in any order."""
    if isinstance(user, MatMulOp):
        return all(constant_value(operand, unit) is None for operand in user.operands)
    if isinstance(user, ReshapeOp):
        shape, heads = ext.type_of(value).shape, ext.type_of(user.out).shape
        if heads[: len(shape) - 1] != shape[:-1] or len(heads) != len(shape) + 1:
            return False
    elif not isinstance(user, TransposeOp):
        return False
    return all(_reads_columns(reader, user.out, unit) for reader in users(user.out))


def _branch(op: ConvOp | MatMulOp, unit: Unit) -> Branch:
    """A contraction and the elementwise ops that follow it, of one constant for each filter at most."""
    steps: list[Step] = []
    value = op.operation.results[0]
    while has_one_use(value) and (step := _step(users(value)[0], value, unit)) is not None:
        steps.append(step)
        value = step.op.operation.results[0]
    return Branch(op, tuple(steps))


def _step(user: ir.OpView, value: ir.Value, unit: Unit) -> Step | None:
    if not isinstance(user, ext.Operation) or Trait.ELEMENTWISE not in user.traits or len(user.operands) > 2:
        return None
    number = list(user.operands).index(value)
    beside = [operand for operand in user.operands if operand != value]
    if (
        len(beside) != len(user.operands) - 1
        or ext.type_of(user.operation.results[0]).shape != ext.type_of(value).shape
    ):
        return None
    if not beside:
        return Step(user, number, None)
    constant = constant_value(beside[0], unit)
    if constant is None or (constant.size > 1 and constant.size != constant.shape[-1]):
        return None
    return Step(user, number, constant)


def _follow(merged: ConvOp | MatMulOp, branches: Sequence[Branch], unit: Unit) -> ir.Value:
    """What follows the branches, behind the one that took their place."""
    value, at = merged.operation.results[0], ir.InsertionPoint(branches[0].root)
    widths = [ext.type_of(branch.result).shape[-1] for branch in branches]
    for steps in zip(*(branch.steps for branch in branches), strict=True):
        first, operands = steps[0].op, [value]
        arrays = [step.constant for step in steps]
        if (array := _beside(arrays, widths)) is not None:
            beside = make_constant(unit, array, "merged", first.location, at)
            operands.insert(1 - steps[0].number, beside)
        location = fused_location([step.op.location for step in steps])
        made = type(first)(*operands, loc=location, ip=at, **first.python_attributes())
        copy_placement(first, made)
        value = made.operation.results[0]
    return value


def _beside(arrays: Sequence[np.ndarray | None], widths: Sequence[int]) -> np.ndarray | None:
    """Constants of branches of some widths as one: a value for all if they have the same."""
    found = [array for array in arrays if array is not None]
    if not found:
        return None
    if all(array.size == 1 and array.tobytes() == found[0].tobytes() for array in found):
        return found[0].reshape(())
    spread = [np.broadcast_to(array.reshape(-1), width) for array, width in zip(found, widths, strict=True)]
    return np.concatenate(spread)


def _read_parts(old: ir.Value, whole: ir.Value, start: int, shape: list[int]) -> None:
    """Let each reader of a value read its part of another."""
    for use in list(old.uses):
        user = use.owner
        starts = [0] * (len(shape) - 1) + [start]
        part = SliceOp(whole, loc=user.location, ip=ir.InsertionPoint(user), starts=starts, sizes=shape)
        copy_placement(user, part)
        user.operation.operands[use.operand_number] = part.out


def _cycles(op: ConvOp | MatMulOp, facts: Facts) -> float:
    """What a contraction takes; no end where no template computes it."""
    cost = least_cost(Contraction(op, (), True), facts)
    return inf if cost is None else cost


def _build(ops: Sequence[ConvOp | MatMulOp], unit: Unit) -> ConvOp | MatMulOp:
    """One contraction with the filters of several, before the first of them."""
    first, at = ops[0], ir.InsertionPoint(ops[0])
    location = fused_location([op.location for op in ops])
    axis = 0 if isinstance(first, ConvOp) else -1
    weights = np.concatenate([_array(op, 1, unit) for op in ops], axis)
    operands = [first.operation.operands[0], make_constant(unit, weights, "merged", location, at)]
    if any(len(op.operation.operands) > 2 for op in ops):
        bias = np.concatenate([_array(op, 2, unit) for op in ops])
        operands.append(make_constant(unit, bias, "merged.bias", location, at))
    attributes = {key: value for key, value in first.python_attributes().items() if key != "operandSegmentSizes"}
    merged = type(first)(*operands, loc=location, ip=at, **attributes)
    copy_placement(first, merged)
    return merged


def _array(op: ext.Operation, number: int, unit: Unit) -> np.ndarray:
    """The weight or the bias, zeros where it has none."""
    if number < len(op.operation.operands):
        array = constant_value(op.operation.operands[number], unit)
        assert array is not None, "_refusal has asked"
        return array
    return np.zeros(ext.type_of(op.operation.results[0]).shape[-1:], _array(op, 1, unit).dtype)


def _title(op: ir.OpView) -> str:
    return "+".join(ext.node_names(op.location)) or op.operation.name
