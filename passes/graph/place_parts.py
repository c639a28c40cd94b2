"""ai-place-parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.dialects.ai import ConcatOp, ConvOp, InsertOp, SliceOp, Trait
from aiopt.passes.base import FunctionPass
from aiopt.passes.remark import MISSED, PASSED, Remark
from aiopt.passes.rewrite import PARTITION, copy_placement, defining, users
from aiopt.passes.spec.base import Level
from aiopt.passes.templates.kernel import keeps_lines
from aiopt.passes.unit import Unit


@dataclass(frozen=True)
class PlaceParts(FunctionPass):
    """Let producers write where a concat would copy to, so that it is no kernel.

    Before: concat of x, y, ... After: insert of x in a tensor as large as the result, of y in that, and so on, in the
    order in which they are computed; the last one is the concat. What else reads x reads that part of the first.
    A concat of concats is one chain. Left alone are concats of what no kernel of one result computes, or of what is
    read by an op that would have to copy its part first; a remark says so.
    """

    name: ClassVar[str] = "ai-place-parts"
    requires: ClassVar[Level] = Level.GRAPH
    statistics: ClassVar[Mapping[str, str]] = {"num-placed": "Number of concats that are no copies any more"}

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> None:
        ops = list(ext.operations(function))
        order: dict[ir.Value, int] = {}  # not by op, whose hash changes with its operands
        for number, op in enumerate(ops):
            order.update((result, number) for result in op.operation.results)
        concats = [op for op in ops if isinstance(op, ConcatOp)]
        joined: set[ir.Value] = set()  # likewise
        for concat in concats[::-1]:  # the outer ones of concats of concats first
            if concat.out in joined:
                continue
            plan = _Plan(concat)
            reason = plan.refusal(order)
            if reason:
                what = f"did not place the parts of {_title(concat)}: {reason}"
                unit.remarks.append(Remark(what, MISSED, "not-placed", concat))
                continue
            plan.apply(order)
            joined.update(op.out for op in plan.joined)
            unit.counts["num-placed"] += 1
            unit.remarks.append(Remark(f"placed the parts of {_title(concat)}", PASSED, "placed", concat))
        for concat in concats[::-1]:
            if concat.out in joined:
                concat.operation.erase()


@dataclass
class _Leaf:
    """What a kernel computes, and where its place begins."""

    value: ir.Value
    start: int


@dataclass
class _Plan:
    """The parts of a concat, those of the concats it joins among them, and where each begins."""

    concat: ConcatOp
    leaves: list[_Leaf] = field(default_factory=list)
    inner: list[tuple[ConcatOp, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._read(self.concat, 0)

    @property
    def axis(self) -> int:
        return self.concat.axis.value

    @property
    def joined(self) -> list[ConcatOp]:
        """The concats that are one chain."""
        return [self.concat, *(op for op, _ in self.inner)]

    def _read(self, concat: ConcatOp, start: int) -> None:
        for value in concat.operation.operands:
            made = defining(value)
            if isinstance(made, ConcatOp) and made.axis.value == self.axis:
                self.inner.append((made, start))
                self._read(made, start)
            else:
                self.leaves.append(_Leaf(value, start))
            start += ext.type_of(value).shape[self.axis]

    def refusal(self, order: Mapping[ir.Value, int]) -> str:
        """Why the parts cannot be placed; empty if they can."""
        whole = ext.type_of(self.concat.out).shape
        values = [leaf.value for leaf in self.leaves]
        inside = {op.operation for op in self.joined}
        if len(set(values)) < len(values) or len({op.operation for op, _ in self.inner}) < len(self.inner):
            return "it has one of them twice"
        for value in values:
            made = defining(value)
            if not isinstance(made, ext.Operation) or made.traits & {Trait.VIEW, Trait.CONSTANT}:
                return "one of them is what no kernel computes"
            if isinstance(made, (InsertOp, ConcatOp)):
                return "one of them lies in parts elsewhere"
            if not keeps_lines(whole, ext.type_of(value).shape):
                return "its axis is neither the last nor the first of more than one"
            if made.operation.attributes.get(PARTITION) != self.concat.operation.attributes.get(PARTITION):
                return "they are of different partitions"
        for value in [*values, *(op.out for op, _ in self.inner)]:
            others = [user for user in users(value) if user.operation not in inside]
            if not all(_reads_part(user, value) for user in others):
                return f"{_title(next(user for user in others if not _reads_part(user, value)))} reads one of them, too"
        return ""

    def apply(self, order: dict[ir.Value, int]) -> None:
        """Build the chain of inserts; what else reads a part reads a slice."""
        leaves = sorted(self.leaves, key=lambda leaf: order[leaf.value])
        inside = {op.operation for op in self.joined}
        whole, size = None, ext.type_of(self.concat.out).shape[self.axis]
        states: dict[ir.Value, ir.Value] = {}
        for leaf in leaves:
            made = ir.OpResult(leaf.value).owner.operation
            after = ir.InsertionPoint.after(made)
            place = {"loc": made.location, "ip": after}
            placed = InsertOp(leaf.value, whole, axis=self.axis, start=leaf.start, size=size, **place)
            copy_placement(made.opview, placed)
            order[placed.out] = order[leaf.value]
            whole = states[leaf.value] = placed.out
            for user in [user for user in users(leaf.value) if user.operation not in {*inside, placed.operation}]:
                _read_slice(user, leaf.value, whole, self.axis, leaf.start)
        for concat, start in self.inner:
            done = max((states[v] for v in _leaves(concat)), key=order.__getitem__)
            for user in [user for user in users(concat.out) if user.operation not in inside]:
                _read_slice(user, concat.out, done, self.axis, start)
        assert whole is not None, "a concat has an operand"
        self.concat.out.replace_all_uses_with(whole)


def _leaves(concat: ConcatOp) -> list[ir.Value]:
    found: list[ir.Value] = []
    for value in concat.operation.operands:
        made = defining(value)
        nested = isinstance(made, ConcatOp) and made.axis.value == concat.axis.value
        found += _leaves(made) if nested else [value]  # pyright: ignore[reportArgumentType]
    return found


def _read_slice(user: ir.OpView, value: ir.Value, whole: ir.Value, axis: int, start: int) -> None:
    """Let an op read a part of a larger tensor in place of a value."""
    kind = ext.type_of(value)
    starts = [start if a == axis else 0 for a in range(kind.rank)]
    part = SliceOp(whole, loc=user.location, ip=ir.InsertionPoint(user), starts=starts, sizes=list(kind.shape))
    copy_placement(user, part)
    for number, operand in enumerate(user.operation.operands):
        if operand == value:
            user.operation.operands[number] = part.out


def _reads_part(user: ir.OpView, value: ir.Value) -> bool:
    """True for ops whose kernels read a part of a tensor as well as a whole one."""
    if isinstance(user, ConvOp):
        return user.layout is not None and user.input == value
    return isinstance(user, ext.Operation) and Trait.ELEMENTWISE in user.traits


def _title(op: ir.OpView) -> str:
    return "+".join(ext.node_names(op.location)) or op.operation.name
