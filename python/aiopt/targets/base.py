"""What a target is: a record of the machine, a list of named stages, and what it can emit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.support.errors import OptionError
from aiopt.support.kernel_cache import KernelCache


@dataclass(frozen=True)
class Stage:
    """A named part of the street: it takes IR of level `source` to IR of level `target`."""

    name: str
    source: Level
    target: Level
    pipeline: str


class Target(ABC):
    """A machine aiopt compiles for. Packages under aiopt.targets offer one as `TARGET`."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]  # what `emit` can make

    def on(self, machine: str) -> Target:
        """This target for a machine by name; "host" is the one at hand. Raises OptionError for one it does not know."""
        if machine == "host":
            return self
        raise OptionError(f"target {self.name} knows no machine '{machine}'")

    @abstractmethod
    def stages(self, amp: str = "none") -> list[Stage]:
        """The stages in order, from GRAPH to the level `emit` takes; amp: see ai-kernels-pipeline."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What code depends on beside the IR: the machine and the flags; for the report, so of JSON's types."""

    @abstractmethod
    def emit(self, unit: Unit, kind: str) -> bytes:
        """Code of one of `kinds` from a unit that has gone through all stages."""

    @abstractmethod
    def build(self, unit: Unit, kernels: KernelCache) -> list[bytes]:
        """Code to load, in parts that can be made in parallel, from a unit that has gone through all stages."""

    @abstractmethod
    def load(self, unit: Unit, code: Sequence[bytes], threads: int, report: Mapping[str, Any]) -> Any:
        """A callable net from built code; it keeps `report` by reference."""


def remaining_stages(stages: list[Stage], level: Level) -> list[Stage]:
    """The stages a unit of this level still has to go through."""
    order = list(Level)
    return [stage for stage in stages if order.index(stage.target) > order.index(level)]
