"""Finds templates by walking this package; two of one name are an error."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from mlir import ir
from mlir.dialects import func

from aiopt.passes import templates
from aiopt.passes.templates.base import (
    LIBRARY_ROUTE,
    STRUCTURED_ROUTE,
    TEMPLATE_ROUTE,
    Facts,
    Parameters,
    Reader,
    Template,
)
from aiopt.passes.templates.read_kernel import Stage, read_contraction
from aiopt.passes.templates.row_reader import RowKernel, read_rows
from aiopt.support.errors import CompileError

ROUTE, CHOICE, STAGES = "ai.route", "ai.template", "ai.stages"  # attributes of a kernel function
BANDS = "bands"  # instead of a template, where a kernel has several stages
_BAND_NUMBERS = ("rows", "tasks")
_SWITCHES = frozenset({"fma", "dot", "order", "copy", "ahead"})  # parameters that may be 0


@cache
def registered() -> dict[str, Template]:
    """All templates by name. Raises TypeError if two share one."""
    found: dict[str, Template] = {}
    for info in pkgutil.iter_modules(templates.__path__, templates.__name__ + "."):
        template = getattr(importlib.import_module(info.name), "TEMPLATE", None)
        if isinstance(template, Template):
            if template.name in found:
                raise TypeError(f"two templates are called {template.name}")
            found[template.name] = template
    return found


def choose(function: func.FuncOp, known: frozenset[int], facts: Facts) -> tuple[str, Parameters] | None:
    """The template that covers a kernel at the least cost, and its parameters on this machine; None if none does.

    known: the arguments (by number) that are constants of known value at every call.
    """
    seen = {read: read(function, known) for read in dict.fromkeys(t.read for t in registered().values())}
    covering = {name: seen[t.read] for name, t in registered().items() if seen[t.read] and t.matches(seen[t.read])}
    costs = {name: registered()[name].cost(kernel, facts) for name, kernel in covering.items()}
    best = min(costs, key=lambda name: costs[name], default=None)
    return None if best is None else (best, registered()[best].parameters(covering[best], facts))


def reader_of(stage: Stage) -> Reader:
    """How the templates that can compute a stage read a kernel that is only that."""
    return read_rows if isinstance(stage, RowKernel) else read_contraction


def choose_stage(kernel: Stage, facts: Facts) -> tuple[str, Parameters] | None:
    """The same for one of several stages of a kernel."""
    best = _best(kernel, facts)
    return None if best is None else (best[1], registered()[best[1]].parameters(kernel, facts))


def least_cost(kernel: Stage, facts: Facts) -> float | None:
    """The cycles that template takes; None if none covers the kernel."""
    best = _best(kernel, facts)
    return None if best is None else best[0]


def _best(kernel: Stage, facts: Facts) -> tuple[float, str] | None:
    own = {
        name: template
        for name, template in registered().items()
        if template.read is reader_of(kernel) and template.route == TEMPLATE_ROUTE
    }
    costs = [(template.cost(kernel, facts), name) for name, template in own.items() if template.matches(kernel)]
    return min(costs, key=lambda pair: pair[0], default=None)


def write_choice(function: func.FuncOp, choices: Sequence[tuple[str, Parameters]]) -> None:
    """Set the attributes `ai.route`, `ai.template` and, for a kernel of several stages, `ai.stages`.

    choices: none for the structured route, a template, or BANDS and a template for each stage.
    """
    attributes = function.operation.attributes
    attributes[ROUTE] = ir.StringAttr.get(_route(choices))
    if choices:
        attributes[CHOICE] = _written(*choices[0])
    if len(choices) > 1:
        attributes[STAGES] = ir.ArrayAttr.get([_written(*choice) for choice in choices[1:]])


def _route(choices: Sequence[tuple[str, Parameters]]) -> str:
    if not choices:
        return STRUCTURED_ROUTE
    name, _ = choices[0]
    return TEMPLATE_ROUTE if name == BANDS else registered()[name].route


def has_emitted_loops(function: ir.OpView) -> bool:
    """True if a template makes the loops of a kernel, around calls of a library or not."""
    attributes = function.operation.attributes
    return ROUTE in attributes and ir.StringAttr(attributes[ROUTE]).value in (TEMPLATE_ROUTE, LIBRARY_ROUTE)


def _written(name: str, parameters: Parameters) -> ir.DictAttr:
    i64 = ir.IntegerType.get_signless(64)
    numbers = {key: ir.IntegerAttr.get(i64, value) for key, value in parameters.items()}
    return ir.DictAttr.get({"name": ir.StringAttr.get(name), **numbers})


@dataclass(frozen=True)
class Choice:
    """The template of each stage of a kernel, and where there are several the numbers of their bands."""

    stages: tuple[tuple[Template, Parameters], ...]
    bands: Parameters | None = None


def read_choice(function: func.FuncOp) -> Choice | None:
    """The templates and parameters a kernel was given; None for the structured route. Raises CompileError."""
    attributes = function.operation.attributes
    if not has_emitted_loops(function):
        return None
    kernel = function.name.value
    if CHOICE not in attributes:
        raise CompileError(f"@{kernel} takes the {ir.StringAttr(attributes[ROUTE]).value} route, but has no {CHOICE}")
    name, numbers = _read_entry(attributes[CHOICE])
    if name != BANDS:
        return Choice((_find(kernel, name, numbers),))
    if STAGES not in attributes:
        raise CompileError(f"@{kernel} is computed in bands, but has no {STAGES}")
    _check_numbers(kernel, BANDS, _BAND_NUMBERS, numbers)
    entries = [_read_entry(entry) for entry in ir.ArrayAttr(attributes[STAGES])]
    if not entries:
        raise CompileError(f"@{kernel} is computed in bands, but {STAGES} is empty")
    return Choice(tuple(_find(kernel, *entry) for entry in entries), numbers)


def _read_entry(entry: ir.Attribute) -> tuple[str, Parameters]:
    values = {item.name: item.attr for item in ir.DictAttr(entry)}
    name = ir.StringAttr(values.pop("name")).value if "name" in values else ""
    return name, {key: ir.IntegerAttr(value).value for key, value in values.items()}


def _find(kernel: str, name: str, numbers: Parameters) -> tuple[Template, Parameters]:
    if name not in registered():
        known = ", ".join(sorted(registered()))
        raise CompileError(f"@{kernel}: there is no template '{name}' (there are: {known})")
    _check_numbers(kernel, name, registered()[name].numbers, numbers)
    return registered()[name], numbers


def _check_numbers(kernel: str, name: str, known: Sequence[str], numbers: Parameters) -> None:
    """All parameters are there, and those that count something are positive. Raises CompileError."""
    if set(numbers) != set(known):
        wanted = ", ".join(sorted(known))
        raise CompileError(f"@{kernel}: the template '{name}' takes {wanted}, not {', '.join(numbers) or 'none'}")
    wrong = [key for key, value in numbers.items() if value < (0 if key in _SWITCHES else 1)]
    if wrong:
        raise CompileError(f"@{kernel}: {wrong[0]} of the template '{name}' is {numbers[wrong[0]]}")
