"""ai-select-route: templates for the kernels they cover, the structured route for all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir.dialects import func

from aiopt.dialects.ai.winograd import SIZES
from aiopt.passes.base import Pass, functions
from aiopt.passes.rewrite import constant_value
from aiopt.passes.spec.base import Level
from aiopt.passes.templates.base import LIBRARY_ROUTE, Facts, Parameters
from aiopt.passes.templates.read_kernel import read_stages
from aiopt.passes.templates.registry import choose, registered, write_choice
from aiopt.passes.templates.stages import choose_stages
from aiopt.passes.unit import Unit
from aiopt.support.errors import OptionError
from aiopt.support.target import AUTO, NO_LIBRARY

WINOGRAD = {AUTO: SIZES, "off": (), **{str(size): (size,) for size in SIZES}}


@dataclass(frozen=True)
class SelectRoute(Pass):
    """Before: kernels of ai ops. After: each has `ai.route`, "template", "library" or "structured", and but for the
    last `ai.template`, a name and parameters for a machine with these registers and caches.

    `templates=false` sends all down the structured route. A route that is there stays as it is. `winograd` says which
    convolutions are computed by Winograd's algorithm, with more rounding: auto (3x3 where it is faster, in tiles of 2x2
    or 4x4), off (none), 2 or 4 (all that it can do, in tiles of this size). `library` sends products to one: openblas,
    onednn or none. `parallel`: runs are to be fast on several threads, at the cost of a launch more here and there.
    """

    name: ClassVar[str] = "ai-select-route"
    requires: ClassVar[Level | None] = Level.KERNELS
    vector_bits: int = 128
    registers: int = 16
    l2_bytes: int = 524288
    cores: int = 1
    fma: bool = False
    dot: bool = False
    templates: bool = True
    winograd: str = AUTO
    library: str = NO_LIBRARY
    parallel: bool = False

    def run(self, unit: Unit) -> None:
        if self.library != NO_LIBRARY and self.library not in libraries():
            known = ", ".join([NO_LIBRARY, *libraries()])
            raise OptionError(f"{self.name}: option 'library' must be one of {known}, not '{self.library}'")
        if self.winograd not in WINOGRAD:
            raise OptionError(
                f"{self.name}: option 'winograd' must be one of {', '.join(WINOGRAD)}, not '{self.winograd}'"
            )
        facts = Facts(
            self.vector_bits,
            self.registers,
            self.l2_bytes,
            self.cores,
            self.fma,
            self.dot,
            WINOGRAD[self.winograd],
            "" if self.library == NO_LIBRARY else self.library,
            self.parallel,
        )
        known = known_arguments(unit)
        for function in functions(unit.module):
            if "ai.kernel" not in function.attributes or "ai.route" in function.attributes:
                continue
            constants = known.get(function.name.value, frozenset())
            write_choice(function, _choices(function, constants, facts) if self.templates else [])


def _choices(function: func.FuncOp, known: frozenset[int], facts: Facts) -> list[tuple[str, Parameters]]:
    if choice := choose(function, known, facts):
        return [choice]
    stages = read_stages(function, known)
    return choose_stages(stages, facts) if stages is not None and len(stages) > 1 else []


def libraries() -> list[str]:
    """Names of the libraries that kernels can be sent to."""
    return sorted(name for name, template in registered().items() if template.route == LIBRARY_ROUTE)


def calls(unit: Unit) -> dict[str, list[func.CallOp]]:
    """The calls of each function by name."""
    found: dict[str, list[func.CallOp]] = {}
    for function in functions(unit.module):
        for op in function.entry_block.operations:
            if isinstance(op, func.CallOp):
                found.setdefault(op.callee.value, []).append(op)
    return found


def known_arguments(unit: Unit) -> dict[str, frozenset[int]]:
    """The arguments of each called function, by number, that are constants of known value at every call."""
    return {
        name: frozenset(
            number
            for number in range(len(sites[0].operands))
            if all(constant_value(site.operands[number], unit) is not None for site in sites)
        )
        for name, sites in calls(unit).items()
    }
