"""What a target is: what it can run, and how it makes code of its part of a net or of a whole one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from aiopt.dialects import ext
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.runtime.base import Net
from aiopt.runtime.parted import Part
from aiopt.support.errors import OptionError
from aiopt.support.fusion import AUTO
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.target import CodeOptions


@dataclass(frozen=True)
class Stage:
    """A named part of the street: it takes IR of level `source` to IR of level `target`."""

    name: str
    source: Level
    target: Level
    pipeline: str


@dataclass(frozen=True)
class BuiltPart:
    """Code of a part: `load(threads)` makes it callable; `report` has its `kernels`, in order, and its sizes."""

    load: Callable[[int], Part]
    report: Mapping[str, Any]


class Device(ABC):
    """What can run a part of a net. Packages under aiopt.targets offer one as `TARGET` of their module `target`."""

    name: str
    has_machines: ClassVar[bool] = False  # true if `choose_machine` says which one

    def choose_machine(self, machine: str | None) -> Self:
        """The same for one of its machines. Raises OptionError if there is no such machine, or none is given."""
        return self

    def with_options(self, options: CodeOptions) -> Self:
        """The same, making code as these say; what has no such choice makes it as ever."""
        return self

    @abstractmethod
    def refusal(self, op: ext.Operation, unit: Unit) -> str | None:
        """Why it does not run this op of level GRAPH; None if it does. unit: what knows the values of constants."""

    def check_kernels(self, otherwise: str) -> list[str]:
        """The passes that hold whole kernels placed here against the machine; others go to the target `otherwise`."""
        return []

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What code depends on beside the IR: the machine and the flags; for the report, so of JSON's types."""

    @abstractmethod
    def build_part(self, unit: Unit, kernels: KernelCache) -> BuiltPart:
        """Code of a part, given as a unit of level KERNELS of its own; its inputs and outputs are those of @main."""


class Target(ABC):
    """What takes whole nets: it has stages from the top of the street to its end."""

    name: str
    kinds: ClassVar[tuple[str, ...]]  # what `emit` can make

    def on(self, machine: str) -> Target:
        """This target for a machine by name; "host" is the one at hand. Raises OptionError for one it does not know."""
        if machine == "host":
            return self
        raise OptionError(f"target {self.name} knows no machine '{machine}'")

    @abstractmethod
    def stages(self, amp: str = "none", fusion: str = AUTO) -> list[Stage]:
        """The stages in order, from GRAPH to the level `emit` takes; amp, fusion: see ai-kernels-pipeline."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What code depends on beside the IR: the machine and the flags; for the report, so of JSON's types."""

    def estimate(self, report: dict[str, Any]) -> dict[str, Any]:
        """A report of a net with what its kernels are likely to take, if the target can tell."""
        return report

    @abstractmethod
    def emit(self, unit: Unit, kind: str) -> bytes:
        """Code of one of `kinds` from a unit that has gone through all stages."""

    @abstractmethod
    def build(self, unit: Unit, kernels: KernelCache) -> Sequence[Any]:
        """Code to load, in parts that can be made in parallel, from a unit that has gone through all stages."""

    @abstractmethod
    def load(self, unit: Unit, code: Sequence[Any], threads: int, report: Mapping[str, Any]) -> Net:
        """A callable net from built code; it keeps `report` by reference, or what it makes of it."""


def remaining_stages(stages: list[Stage], level: Level) -> list[Stage]:
    """The stages a unit of this level still has to go through."""
    order = list(Level)
    return [stage for stage in stages if order.index(stage.target) > order.index(level)]
