"""Builds a function's ops anew in the layouts that were chosen for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects import ai, ext
from aiopt.dialects.ai.packing import CHANNELS_FIRST, CHANNELS_LAST
from aiopt.passes.graph.layout_plan import Plan, Step, transposed
from aiopt.passes.graph.layout_rules import Form
from aiopt.passes.permutation import is_view
from aiopt.passes.rewrite import PARTITION, constant_value, copy_placement, defining, make_constant, users
from aiopt.passes.unit import Unit


def change_layout(plan: Plan, unit: Unit) -> None:
    """Build each op of the plan that takes or gives channels_last anew, in order; what it was is erased."""
    _Change(plan, unit).apply()


@dataclass
class _Change:
    """The edits: a new op stands before the old one, which goes when all are built."""

    plan: Plan
    unit: Unit
    last: dict[ir.Value, ir.Value] = field(default_factory=dict)  # old value -> the same in channels_last
    arguments: dict[tuple[ir.Value, Any], ir.Value] = field(default_factory=dict)  # the same by partition too
    replaced: list[ext.Operation] = field(default_factory=list)

    def apply(self) -> None:
        for step in self.plan.steps.values():
            takes, gives = self.plan.chosen[step.takes], self.plan.chosen[step.gives]
            if takes or gives:
                self._rebuild(step, takes, gives)
        for op in reversed(self.replaced):  # users before what they use
            op.operation.erase()

    def _rebuild(self, step: Step, takes: bool, gives: bool) -> None:
        op = step.op
        operands = [list(group) if isinstance(group, list) else group for group in op.operand_groups()]
        if takes:
            operands = self._operands(step)
        if isinstance(op, (ai.TransposeOp, ai.RelayoutOp)) and step.takes != step.gives:
            source, result = step.rule.operands[0], step.rule.result
            permutation = transposed(op, source if takes else None, result if gives else None)
            new = _like(op, ai.TransposeOp, operands, permutation=permutation)
        else:
            new = _like(op, type(op), operands, **{**op.python_attributes(), **step.rule.attributes})
        self.replaced.append(op)
        old = op.operation.results[0]
        if isinstance(op, ai.ReshapeOp) and step.rule.result is None:
            self._permute_rows(op, step.rule.operands[0])
        if step.rule.result is not None and gives:
            self.last[old] = new
            self._give_first(op, old)
            return
        old.replace_all_uses_with(new)
        if old in self.plan.forms:
            self.plan.forms[new] = self.plan.forms[old]

    def _operands(self, step: Step) -> list[ir.Value | list[ir.Value] | None]:
        """The operands by slot, those that are activations in channels_last."""
        flat = [
            self._as_last(value, step.rule.operands[place], step.op) if place in step.rule.operands else value
            for place, value in enumerate(step.op.operation.operands)
        ]
        remaining = iter(flat)
        return [
            [next(remaining) for _ in group] if isinstance(group, list) else None if group is None else next(remaining)
            for group in step.op.operand_groups()
        ]

    def _as_last(self, value: ir.Value, form: Form, user: ext.Operation) -> ir.Value:
        """The value in channels_last; moved there before the first op that wants it so."""
        if self.plan.forms.get(value) == form:
            return self._moved_once(value, form, user)
        kind, array = ext.type_of(value), constant_value(value, self.unit)
        if kind.size == 1 and array is not None:
            return value
        shape = (1,) * (form.rank - kind.rank) + kind.shape
        if array is not None:
            turned = np.transpose(array.reshape(shape), form.order)
            return make_constant(self.unit, turned, _hint(value), user.location, ir.InsertionPoint(user))
        full = value if shape == kind.shape else _like(user, ai.ReshapeOp, [value], shape=shape)
        return self._moved(full, form, user)

    def _moved_once(self, value: ir.Value, form: Form, user: ext.Operation) -> ir.Value:
        """The value moved for all its users: where its producer runs; an argument in each partition by itself.

        (In the partition of its first user, others would wait for that one, perhaps in a circle.)
        """
        if value in self.last:
            return self.last[value]
        producer = defining(value)
        if producer is not None:
            moved = self.last[value] = self._moved(value, form, user)
            copy_placement(producer, moved.owner)  # pyright: ignore[reportArgumentType]: an op's result
            return moved
        key = value, user.operation.attributes.get(PARTITION)
        if key not in self.arguments:
            self.arguments[key] = self._moved(value, form, user)
        return self.arguments[key]

    def _give_first(self, op: ext.Operation, old: ir.Value) -> None:
        """Hand the result to the users that want it in channels_first."""
        form, back = self.plan.forms[old], None
        for use in list(old.uses):
            step = self.plan.step(use.owner)
            fits = step is not None and step.rule.operands.get(use.operand_number) == form
            if step is not None and fits and self.plan.chosen[step.takes]:
                continue
            if back is None:
                back = self._moved(self.last[old], form, op, back=True)
            use.owner.operation.operands[use.operand_number] = back

    def _moved(self, value: ir.Value, form: Form, at: ext.Operation, back: bool = False) -> ir.Value:
        """The value in the other layout, built before `at`."""
        order = form.inverse if back else form.order
        shape = ext.type_of(value).shape
        if is_view(order, shape):
            return _like(at, ai.ReshapeOp, [value], shape=[shape[axis] for axis in order])
        if not form.is_plain:
            return _like(at, ai.TransposeOp, [value], permutation=order)
        return _like(at, ai.RelayoutOp, [value], to=CHANNELS_FIRST if back else CHANNELS_LAST)

    def _permute_rows(self, op: ai.ReshapeOp, form: Form) -> None:
        """reshape joins the dimensions in another order now: bring the rows of the matrices it meets into it."""
        shape = ext.type_of(op.input).shape
        if form.is_view(shape):
            return
        for user in users(op.out):
            assert isinstance(user, ai.MatMulOp)
            matrix = constant_value(user.rhs, self.unit)
            assert matrix is not None, "the plan asked for known matrices"
            *lead, rows, columns = matrix.shape
            split = matrix.reshape(*lead, *shape[1:], columns)
            order = [*range(len(lead)), *(len(lead) + axis - 1 for axis in form.order[1:]), split.ndim - 1]
            turned = np.ascontiguousarray(np.transpose(split, order)).reshape(*lead, rows, columns)
            at = ir.InsertionPoint(user)
            user.operation.operands[1] = make_constant(self.unit, turned, _hint(user.rhs), user.location, at)


def _like(op: ext.Operation, cls: type[ext.Operation], operands: Sequence[Any], **attributes: Any) -> ir.Value:
    """The result of an op built before another, at its location and where that runs."""
    made = cls(*operands, loc=op.location, ip=ir.InsertionPoint(op), **attributes)
    copy_placement(op, made)
    return made.operation.results[0]


def _hint(value: ir.Value) -> str:
    """What to call new weights made of a constant."""
    op = value.owner.opview  # pyright: ignore[reportAttributeAccessIssue]: a constant is no argument
    return op.key.value if isinstance(op, ai.ConstantOp) else "constant"
