"""`ai-verify`: hold every op of a Python-defined dialect against its rules."""

from dataclasses import dataclass
from typing import ClassVar

from aiopt.dialects import ext
from aiopt.passes.base import Pass
from aiopt.passes.unit import Unit


@dataclass(frozen=True)
class Verify(Pass):
    """Before: any IR. After: the same; an op whose attributes, element types or shapes do not fit is an error."""

    name: ClassVar[str] = "ai-verify"

    def run(self, unit: Unit) -> None:
        ext.verify(unit.module)
