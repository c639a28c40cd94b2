"""ai-dce."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopt.passes.base import Pass
from aiopt.passes.rewrite import erase_dead
from aiopt.passes.unit import Unit


@dataclass(frozen=True)
class DeadCodeElimination(Pass):
    """Before: `ai` ops and constants that nothing uses, chains of them included. After: none."""

    name: ClassVar[str] = "ai-dce"

    def run(self, unit: Unit) -> bool:
        return erase_dead(unit.module) > 0
