"""From ops to the choices of `layout_choice.py`, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects import ai, ext
from aiopt.passes.graph import layout_choice, layout_rules
from aiopt.passes.graph.layout_choice import Choices
from aiopt.passes.graph.layout_rules import Form, Rule
from aiopt.passes.graph.min_cut import UNBOUNDED
from aiopt.passes.permutation import is_view, permutation_of
from aiopt.passes.rewrite import constant_value, defining, flops_of, users
from aiopt.passes.templates.kernel import is_pointwise
from aiopt.passes.unit import Unit
from aiopt.support.types import LOW_FLOATS

CONSTANTS = (ai.ConstantOp, arith.ConstantOp)
_REGISTER_BLOCKED = LOW_FLOATS | {"f32"}  # elements that templates take


@dataclass
class Step:
    """An op, how it is built in channels_last, and the choices whether it takes and gives that."""

    op: ext.Operation
    rule: Rule
    takes: int
    gives: int  # the same, but for a transpose: it may take one layout and give the other


@dataclass
class Plan:
    """What was found out of a function, and what was chosen."""

    forms: dict[ir.Value, Form] = field(default_factory=dict)  # the activations
    steps: dict[ir.Value, Step] = field(default_factory=dict)  # by result: the hash of an op changes with its operands
    windows: list[ext.Operation] = field(default_factory=list)
    chosen: Sequence[bool] = ()

    def step(self, op: ir.OpView) -> Step | None:
        """That of an op, if it has one."""
        return self.steps.get(op.operation.results[0]) if len(op.operation.results) == 1 else None

    def is_last(self, op: ext.Operation) -> bool:
        """True if the op takes channels_last."""
        step = self.step(op)
        return step is not None and self.chosen[step.takes]


def plan(function: func.FuncOp, unit: Unit, *, force: bool) -> Plan:
    """Choose a layout for each op of a function; with `force`, every convolution and pooling is channels_last."""
    found, choices = Plan(), Choices()
    ops = [op for op in function.entry_block.operations if isinstance(op, ext.Operation)]
    if not any(map(layout_rules.has_window, ops)):
        return found
    for argument in function.arguments:
        _note_form(found, argument)
    for op in ops:
        step = _step(op, found, choices, unit)
        if step is not None:
            found.steps[op.operation.results[0]] = step
        for result in op.operation.results:
            _note_form(found, result, step.rule.result if step is not None else None)
        if layout_rules.has_window(op) and (step is None or "layout" in step.rule.attributes):
            found.windows.append(op)
            if step is not None:
                choices.add_cost(step.takes, first=UNBOUNDED if force else _gain(op))
    for value, form in found.forms.items():
        _add_value(value, form, found, choices)
    found.chosen = choices.solve()
    return found


def _note_form(found: Plan, value: ir.Value, form: Form | None = None) -> None:
    """Constants have no form: they can be had in any layout."""
    if not isinstance(defining(value), CONSTANTS) and isinstance(value.type, ir.RankedTensorType):
        rank = ext.type_of(value).rank
        if rank >= 3:
            found.forms[value] = form or Form(rank)


def _step(op: ext.Operation, found: Plan, choices: Choices, unit: Unit) -> Step | None:
    rule = layout_rules.rule(op, found.forms)
    if rule is not None:
        node = choices.add_node(last=_moving_in(op, rule, found))
        return Step(op, rule, node, node)
    if isinstance(op, (ai.TransposeOp, ai.RelayoutOp)):
        return _transpose(op, found, choices)
    if layout_rules.flattened(op, found.forms) and has_constant_readers(op, unit):
        node = choices.add_node()
        return Step(op, Rule({0: found.forms[op.operation.operands[0]]}, None), node, node)
    return None


def _moving_in(op: ext.Operation, rule: Rule, found: Plan) -> int:
    """What it costs to bring operands of lower rank or another form into the order of channels_last."""
    total = 0
    for index, form in rule.operands.items():
        value = op.operation.operands[index]
        if not isinstance(defining(value), CONSTANTS) and found.forms.get(value) != form:
            kind = ext.type_of(value)
            total += _cost(form, (1,) * (form.rank - kind.rank) + kind.shape, kind.nbytes)
    return total


def _transpose(op: ai.TransposeOp | ai.RelayoutOp, found: Plan, choices: Choices) -> Step | None:
    """A transpose takes any layout and gives any; what that costs depends on whether it still moves anything."""
    if op.input not in found.forms:
        return None
    source, result = found.forms[op.input], Form(found.forms[op.input].rank)
    kind = ext.type_of(op.input)

    def cost(taken: bool, given: bool) -> int:
        shape = source.rearrange(kind.shape) if taken else kind.shape
        permutation = transposed(op, source if taken else None, result if given else None)
        return 0 if is_view(permutation, shape) else layout_choice.move_cost(kind.nbytes)

    costs = [[cost(taken, given) for given in (False, True)] for taken in (False, True)]
    takes, gives = choices.add_node(), choices.add_node()
    choices.add_pair(takes, gives, costs)
    return Step(op, Rule({0: source}, result), takes, gives)


def transposed(op: ai.TransposeOp | ai.RelayoutOp, source: Form | None, result: Form | None) -> list[int]:
    """The permutation of a transpose whose operand or result is in channels_last (None: in channels_first).

    The permutation goes by dimensions as in channels_first: `permutation[i]` of the operand becomes dimension i.
    """
    permutation = permutation_of(op)
    if source is not None:
        permutation = [source.inverse[axis] for axis in permutation]
    return permutation if result is None else result.rearrange(permutation)


def has_constant_readers(op: ext.Operation, unit: Unit) -> bool:
    """True if all that reads the result is products with known matrices."""
    result = op.operation.results[0]
    return all(
        isinstance(user, ai.MatMulOp)
        and user.lhs == result
        and user.rhs != result
        and user.pack is None
        and constant_value(user.rhs, unit) is not None
        for user in users(result)
    )


def _add_value(value: ir.Value, form: Form, found: Plan, choices: Choices) -> None:
    kind, owner = ext.type_of(value), defining(value)
    made = found.step(owner) if owner is not None else None
    producer = made.gives if made is not None and made.rule.result is not None else Choices.FIRST
    readers = [_reader(use, form, found) for use in value.uses]
    choices.add_value(producer, readers, _cost(form, kind.shape, kind.nbytes))


def _reader(use: ir.OpOperand, form: Form, found: Plan) -> int:
    step = found.step(use.owner)
    return step.takes if step is not None and step.rule.operands.get(use.operand_number) == form else Choices.FIRST


def _cost(form: Form, shape: Sequence[int], nbytes: int) -> int:
    return layout_choice.VIEW_PS if form.is_view(shape) else layout_choice.move_cost(nbytes)


def _gain(op: ext.Operation) -> int:
    """Only for what templates cover in channels_last: elements computed in f32, of images or of products with them."""
    kind = ext.type_of(op.operation.operands[0])
    if kind.element not in _REGISTER_BLOCKED:
        return 0
    if isinstance(op, ai.ConvOp) and is_pointwise(op):
        return layout_choice.pointwise_gain(flops_of(op), prod(kind.shape[2:]))
    return layout_choice.window_gain(flops_of(op)) if kind.rank == 4 else 0
