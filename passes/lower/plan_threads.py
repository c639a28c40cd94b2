"""ai-plan-threads: which kernels are split among threads, and which run side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from mlir import ir
from mlir.dialects import func, scf

from aiopt.passes.base import Pass, functions
from aiopt.passes.effects import call_effects, written_arguments
from aiopt.passes.lower.side_by_side import Task, find_regions
from aiopt.passes.lower.work import iterations, nanoseconds
from aiopt.passes.spec.base import REGION, SERIAL, Level
from aiopt.passes.unit import Unit


@dataclass(frozen=True)
class PlanThreads(Pass):
    """Before: kernels as loops. After: each has `ai.nanoseconds`, an estimate of its time on one core, and `ai.serial`
    if it is not to be split among threads, because it takes less than `grain` nanoseconds or has no parallel loop.

    Calls of serial kernels that do not depend on each other are put side by side and share an `ai.region`: they run at
    the same time, each on one thread. That costs `cost` nanoseconds and is done if it saves more on `cores` cores.
    """

    name: ClassVar[str] = "ai-plan-threads"
    requires: ClassVar[Level | None] = Level.TENSOR
    cores: int = 1
    grain: int = 4000
    cost: int = 1000

    def run(self, unit: Unit) -> None:
        kernels = [f for f in functions(unit.module) if f.name.value != "main"]
        for kernel in kernels:
            self._judge(kernel)
        main = next((f for f in functions(unit.module) if f.name.value == "main"), None)
        if main is not None and self.cores > 1:
            count = _group(main, kernels, self.cores, self.cost)
            unit.remarks.append(f"ai-plan-threads: {count} regions of calls side by side")

    def _judge(self, kernel: func.FuncOp) -> None:
        time = nanoseconds(kernel)
        kernel.attributes["ai.nanoseconds"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), time)
        if time < self.grain or not _is_parallel(kernel):
            kernel.attributes[SERIAL] = ir.UnitAttr.get()


def _is_parallel(kernel: func.FuncOp) -> bool:
    loops = [op for op in kernel.entry_block.operations if isinstance(op, scf.ForallOp)]
    return any(iterations(loop) > 1 for loop in loops)


def _group(main: func.FuncOp, kernels: list[func.FuncOp], cores: int, cost: int) -> int:
    """Move calls that run at the same time together, and say so; how many groups there are."""
    calls = [op for op in main.entry_block.operations if isinstance(op, func.CallOp)]
    by_name = {kernel.name.value: kernel for kernel in kernels}
    written = {name: written_arguments(kernel) for name, kernel in by_name.items()}
    tasks = [Task(_serial_time(by_name, call), call_effects(call, written)) for call in calls]
    regions = find_regions(tasks, cores, cost)
    if regions:
        _hoist_buffers(main)
    for number, region in enumerate(regions):
        for earlier, later in pairwise(region):
            calls[later].operation.move_after(calls[earlier].operation)
        for member in region:
            attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
            calls[member].operation.attributes[REGION] = attribute
    return len(regions)


def _serial_time(kernels: Mapping[str, func.FuncOp], call: func.CallOp) -> int | None:
    attributes = kernels[call.callee.value].attributes
    return attributes["ai.nanoseconds"].value if SERIAL in attributes else None


def _hoist_buffers(main: func.FuncOp) -> None:
    """Constants, allocs and views before all calls, in their order: then calls can change places."""
    operations = list(main.entry_block.operations)
    first = next(op for op in operations if isinstance(op, func.CallOp))
    for op in operations[operations.index(first) : -1]:
        if not isinstance(op, func.CallOp):
            op.operation.move_before(first.operation)
