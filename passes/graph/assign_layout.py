"""ai-assign-layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopt.dialects.ai.packing import CHANNELS_FIRST, CHANNELS_LAST
from aiopt.passes.base import Pass, functions
from aiopt.passes.graph import simplify_movement
from aiopt.passes.graph.change_layout import change_layout
from aiopt.passes.graph.layout_plan import plan
from aiopt.passes.rewrite import erase_dead, rewrite
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.support.errors import PipelineError

AUTO = "auto"


@dataclass(frozen=True)
class AssignLayout(Pass):
    """Decide which ops work on activations in channels_last.

    Before: `ai` ops in channels_first. After: convolutions and pooling with `layout` = "channels_last", the ops between
    them with axes and constants that fit, and an `ai.relayout` (or a transpose, or a reshape where nothing moves) where
    a value is needed in the other layout: where they are fewest and cheapest (`layout_choice.py`).
    Options: layout, channels_last (all convolutions and pooling), auto (where it pays), channels_first (none).
    """

    name: ClassVar[str] = "ai-assign-layout"
    requires: ClassVar[Level] = Level.GRAPH
    layout: str = AUTO

    def run(self, unit: Unit) -> bool:
        if self.layout not in (AUTO, CHANNELS_FIRST, CHANNELS_LAST):
            known = f"{AUTO}, {CHANNELS_FIRST}, {CHANNELS_LAST}"
            raise PipelineError(f"{self.name}: option 'layout' must be one of {known}, not '{self.layout}'")
        if self.layout == CHANNELS_FIRST:
            return False
        changed = False
        for function in functions(unit.module):
            decided = plan(function, unit, force=self.layout == CHANNELS_LAST)
            chosen = sum(decided.is_last(op) for op in decided.windows)
            if chosen:
                windows = f"{chosen} of {len(decided.windows)} convolutions and pools"
                unit.remarks.append(f"@{function.name.value}: {windows} work in channels_last")
            change_layout(decided, unit)
            changed |= any(decided.chosen)
        changed |= rewrite(unit, simplify_movement.PATTERNS)
        return erase_dead(unit.module) > 0 or changed
