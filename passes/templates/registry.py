"""Finds templates by walking this package; two of one name are an error."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from mlir import ir
from mlir.dialects import func

from aiopt.passes import templates
from aiopt.passes.templates.base import (
    LIBRARY_ROUTE,
    STRUCTURED_ROUTE,
    TEMPLATE_ROUTE,
    Buffers,
    Facts,
    Parameters,
    Template,
)
from aiopt.passes.templates.kernel import Contraction
from aiopt.support.errors import CompileError

ROUTE, CHOICE = "ai.route", "ai.template"  # attributes of a kernel function
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


def write_choice(function: func.FuncOp, choice: tuple[str, Parameters] | None) -> None:
    """Set the attributes `ai.route` and `ai.template` of a kernel."""
    attributes = function.operation.attributes
    attributes[ROUTE] = ir.StringAttr.get(STRUCTURED_ROUTE if choice is None else registered()[choice[0]].route)
    if choice is not None:
        name, parameters = choice
        i64 = ir.IntegerType.get_signless(64)
        numbers = {key: ir.IntegerAttr.get(i64, value) for key, value in parameters.items()}
        attributes[CHOICE] = ir.DictAttr.get({"name": ir.StringAttr.get(name), **numbers})


def has_emitted_loops(function: ir.OpView) -> bool:
    """True if a template makes the loops of a kernel, around calls of a library or not."""
    attributes = function.operation.attributes
    return ROUTE in attributes and ir.StringAttr(attributes[ROUTE]).value in (TEMPLATE_ROUTE, LIBRARY_ROUTE)


def read_choice(function: func.FuncOp) -> tuple[Template, Parameters] | None:
    """The template and parameters a kernel was given; None for the structured route. Raises CompileError."""
    attributes = function.operation.attributes
    if not has_emitted_loops(function):
        return None
    if CHOICE not in attributes:
        raise CompileError(
            f"@{function.name.value} takes the {ir.StringAttr(attributes[ROUTE]).value} route, but has no {CHOICE}"
        )
    values = {item.name: item.attr for item in ir.DictAttr(attributes[CHOICE])}
    name = ir.StringAttr(values.pop("name")).value if "name" in values else ""
    if name not in registered():
        known = ", ".join(sorted(registered()))
        raise CompileError(f"@{function.name.value}: there is no template '{name}' (there are: {known})")
    numbers = {key: ir.IntegerAttr(value).value for key, value in values.items()}
    _check_numbers(function.name.value, registered()[name], numbers)
    return registered()[name], numbers


def _check_numbers(kernel: str, template: Template, numbers: Parameters) -> None:
    """All parameters are there, and those that count something are positive. Raises CompileError."""
    if set(numbers) != set(template.numbers):
        wanted = ", ".join(sorted(template.numbers))
        raise CompileError(
            f"@{kernel}: the template '{template.name}' takes {wanted}, not {', '.join(numbers) or 'none'}"
        )
    wrong = [key for key, value in numbers.items() if value < (0 if key in _SWITCHES else 1)]
    if wrong:
        raise CompileError(f"@{kernel}: {wrong[0]} of the template '{template.name}' is {numbers[wrong[0]]}")


def emit_template(function: func.FuncOp, template: Template, parameters: Parameters, buffers: Buffers) -> None:
    """Emit the body of a kernel that `function` has on tensors. Raises CompileError if the template does not fit."""
    kernel = template.read(function, frozenset())
    if kernel is None or not template.matches(kernel):
        name = function.name.value
        raise CompileError(
            f"the template '{template.name}' does not cover @{name}: run ai-select-route, ai-pack-weights"
        )
    if isinstance(kernel, Contraction):
        _check_packing(function.name.value, kernel, parameters)
    template.emit(kernel, parameters, buffers)


def _check_packing(name: str, kernel: Contraction, parameters: Parameters) -> None:
    if kernel.pack is not None and kernel.pack != parameters["nr"]:
        raise CompileError(f"@{name}: nr is {parameters['nr']}, but the weight is packed by {kernel.pack}")
    if kernel.interleave != bool(parameters.get("dot")):
        raise CompileError(f"@{name}: the weight is packed in pairs if and only if dot is 1")
