"""ai-assign-target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.dialects.ai import AiDialect, Trait
from aiopt.passes.base import FunctionPass
from aiopt.passes.graph import placement
from aiopt.passes.rewrite import PARTITION, TARGET
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import PipelineError, UnsupportedError

# What each target can run. The CPU has a lowering or a reference for every op.
CAN_RUN: dict[str, Callable[[ext.Operation], bool]] = {"cpu": lambda op: True}


@dataclass(frozen=True)
class AssignTarget(FunctionPass):
    """Decide where each op runs (`placement.py` has the rules).

    Before: `ai` ops. After: each but the constants has `ai.target`, the first target of the option that can run it,
    and `ai.partition`, the number of the largest convex set of ops of one target it belongs to.
    Options: target, names in order of preference (`npu,cpu`); deny, ops a target may not run (`npu:ai.softmax,...`).
    """

    name: ClassVar[str] = "ai-assign-target"
    requires: ClassVar[Level] = Level.GRAPH
    target: str = "cpu"
    deny: str = ""

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> None:
        order, denied = self._order(), self._denied()
        ops = [op for op in ext.operations(function) if isinstance(op, ext.Operation)]
        ops = [op for op in ops if Trait.CONSTANT not in op.traits]

        def runner(target: str) -> Callable[[int], bool]:
            return lambda i: (target, ops[i].OPERATION_NAME) not in denied and CAN_RUN[target](ops[i])

        targets = placement.choose_targets(len(ops), order, {target: runner(target) for target in order})
        placed: list[str] = []
        for op, target in zip(ops, targets, strict=True):
            if target is None:
                where = ext.describe(op.location)
                raise UnsupportedError(f"{self.name}: no target of {self.target} runs {op.OPERATION_NAME} (at {where})")
            placed.append(target)
        index = {result: number for number, op in enumerate(ops) for result in op.operation.results}
        operands = [[index[value] for value in op.operation.operands if value in index] for op in ops]
        for op, target, number in zip(ops, placed, placement.partition(placed, operands), strict=True):
            op.operation.attributes[TARGET] = ir.StringAttr.get(target)
            op.operation.attributes[PARTITION] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)

    def _order(self) -> list[str]:
        order = self.target.split(",")
        for target in order:
            if target not in CAN_RUN:
                known = ", ".join(CAN_RUN)
                raise PipelineError(f"{self.name}: option 'target' names no target '{target}' (there are: {known})")
        return order

    def _denied(self) -> set[tuple[str, str]]:
        known = {op.OPERATION_NAME for op in AiDialect.operations.values()}
        denied = set()
        for entry in filter(None, self.deny.split(",")):
            target, colon, op = entry.partition(":")
            if not colon or target not in CAN_RUN:
                raise PipelineError(f"{self.name}: option 'deny' takes target:op with a known target, not '{entry}'")
            if op not in known:
                raise PipelineError(f"{self.name}: option 'deny' names no op '{op}'{did_you_mean(op, known)}")
            denied.add((target, op))
        return denied
