"""ai-assign-target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.dialects.ai import AiDialect, IdentityOp, Trait
from aiopt.passes.base import FunctionPass
from aiopt.passes.graph import placement
from aiopt.passes.rewrite import PARTITION, TARGET, WHY, defining
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import PipelineError, UnsupportedError

Refusal = Callable[[ext.Operation, Unit], str | None]  # why a target does not run an op; None if it does

_REFUSALS: dict[str, Refusal] = {}


def offer_target(name: str, refusal: Refusal) -> None:
    """Let the pass place ops on a target (aiopt.targets offers all it finds)."""
    _REFUSALS[name] = refusal


def _everything(op: ext.Operation, unit: Unit) -> None:
    """The CPU has a lowering or a reference for every op."""


offer_target("cpu", _everything)


@dataclass(frozen=True)
class AssignTarget(FunctionPass):
    """Decide where each op runs (`placement.py` has the rules).

    Before: `ai` ops. After: each but the constants has `ai.target`, the first target of the option that can run it,
    `ai.why`, why those before do not, and `ai.partition`, the number of the largest convex set of ops of one target it
    belongs to. What is returned and no op computes goes through an `ai.identity`, which some target has to run.
    Options: target, names in order of preference (`npu,cpu`); deny, ops a target may not run (`npu:ai.softmax,...`).
    """

    name: ClassVar[str] = "ai-assign-target"
    requires: ClassVar[Level] = Level.GRAPH
    target: str = "cpu"
    deny: str = ""

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> None:
        order, denied = self._order(), self._denied()
        _copy_returned(function)
        ops = [op for op in ext.operations(function) if isinstance(op, ext.Operation)]
        ops = [op for op in ops if Trait.CONSTANT not in op.traits]

        def refusal(target: str) -> placement.Refusal:
            return lambda i: "denied" if (target, ops[i].OPERATION_NAME) in denied else _REFUSALS[target](ops[i], unit)

        choices = placement.choose_targets(len(ops), order, {target: refusal(target) for target in order})
        placed: list[str] = []
        for op, choice in zip(ops, choices, strict=True):
            name = op.OPERATION_NAME
            if choice.target is None:
                why = "; ".join(f"{target}: {reason}" for target, reason in choice.refusals.items())
                what = f"no target of {self.target} runs {name} (at {ext.describe(op.location)})"
                raise UnsupportedError(f"{self.name}: {what}: {why}")
            why = "; ".join(f"{target}: {name}: {reason}" for target, reason in choice.refusals.items())
            if why:
                op.operation.attributes[WHY] = ir.StringAttr.get(why)
            placed.append(choice.target)
        index = {result: number for number, op in enumerate(ops) for result in op.operation.results}
        operands = [[index[value] for value in op.operation.operands if value in index] for op in ops]
        for op, target, number in zip(ops, placed, placement.partition(placed, operands), strict=True):
            op.operation.attributes[TARGET] = ir.StringAttr.get(target)
            op.operation.attributes[PARTITION] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)

    def _order(self) -> list[str]:
        order = self.target.split(",")
        for target in order:
            if target not in _REFUSALS:
                known = ", ".join(sorted(_REFUSALS))
                raise PipelineError(f"{self.name}: option 'target' names no target '{target}' (there are: {known})")
        return order

    def _denied(self) -> set[tuple[str, str]]:
        known = {op.OPERATION_NAME for op in AiDialect.operations.values()}
        denied = set()
        for entry in filter(None, self.deny.split(",")):
            target, colon, op = entry.partition(":")
            if not colon or target not in _REFUSALS:
                raise PipelineError(f"{self.name}: option 'deny' takes target:op with a known target, not '{entry}'")
            if op not in known:
                raise PipelineError(f"{self.name}: option 'deny' names no op '{op}'{did_you_mean(op, known)}")
            denied.add((target, op))
        return denied


def _copy_returned(function: func.FuncOp) -> None:
    """Put an `ai.identity` before each returned value that is an argument or a constant."""
    *_, end = function.entry_block.operations
    for index, value in enumerate(list(end.operands)):
        owner = defining(value)
        computed = isinstance(owner, ext.Operation) and Trait.CONSTANT not in owner.traits
        if not computed:
            location = end.location if owner is None else owner.location
            copy = IdentityOp(value, loc=location, ip=ir.InsertionPoint(end))
            end.operands[index] = copy.operation.results[0]
