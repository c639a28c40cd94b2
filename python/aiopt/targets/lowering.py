"""Takes a unit down the stages of a target, and reads the report of its net off the levels it passes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from aiopt.passes import pipeline, report
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.passes.values import referenced_keys
from aiopt.support.fusion import AUTO
from aiopt.targets.base import Target, remaining_stages

Clock = Callable[[str], AbstractContextManager[None]]  # told the name of each stage


def run_stages(
    unit: Unit, target: Target, amp: str = "none", clock: Clock = nullcontext, fusion: str = AUTO
) -> dict[str, Any]:
    """Run the stages the unit has not gone through yet; what the report can say of the net."""
    assert unit.level is not None
    stages = remaining_stages(target.stages(amp, fusion), unit.level)
    summary: dict[str, Any] = {"kernels": [], "launches": 0}
    for stage in [None, *stages]:
        if stage is not None:
            with clock(stage.name):
                pipeline.run(unit, stage.pipeline)
                unit.weights = unit.weights.restricted(referenced_keys(unit.module))  # frees what became of others
        if unit.level is Level.LOOPS:
            calls = report.kernels(unit.module)
            summary.update(kernels=calls, launches=sum(call["launches"] for call in calls))
    summary.update(report.sizes(unit.module), pipeline=",".join(stage.pipeline for stage in stages))
    return target.estimate(summary)
