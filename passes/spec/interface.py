"""What a net shows to the outside: its name, and the names and types of what @main takes and gives."""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir
from mlir.dialects import func

from aiopt.passes.spec.base import Level, refuse
from aiopt.support.errors import SpecError
from aiopt.support.types import ELEMENTS, storage_element


def check_interface(level: Level, module: ir.Module, main: func.FuncOp) -> None:
    """Hold `ai.net`, and the attributes of @main's arguments and results, against docs/levels.md. Raises SpecError.

    What is not there is not missed: `adopt` fills it in, or the pass that needs it says so.
    """
    if "ai.net" in module.operation.attributes:
        net_name(module)
    arguments, results = _entries(main, "arg_attrs"), _entries(main, "res_attrs")
    outputs = [entry for entry in arguments if "ai.output" in entry] + results
    for role, entries in (("input", [entry for entry in arguments if "ai.output" not in entry]), ("output", outputs)):
        check_names(role, [name for entry in entries if (name := _name(level, main, entry)) is not None])
    for kind, entry in zip(main.type.inputs, arguments, strict=False):
        _check_element(level, main, kind, entry)


def net_name(module: ir.Module) -> str:
    """The net's name, a C identifier (module attribute `ai.net`). Raises SpecError if it is none."""
    attribute = module.operation.attributes.get("ai.net")
    name = attribute.value if isinstance(attribute, ir.StringAttr) else None
    if name is None or not (name.isascii() and name.isidentifier()):
        raise SpecError(f"the module attribute ai.net must be a C identifier, but is {attribute or 'not there'}")
    return name


def check_names(role: str, names: Iterable[str]) -> None:
    """Inputs, and outputs, are found by name: each has one of its own. Raises SpecError."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SpecError(f"two {role}s of @main are called '{name}' (ai.name): give one of them another name")
        if "\0" in name:
            raise SpecError(f"the {role} {name!r} of @main (ai.name) cannot have a NUL in its name: C has none there")
        seen.add(name)


def _entries(main: func.FuncOp, key: str) -> list[dict[str, ir.Attribute]]:
    if key not in main.attributes:
        return []
    return [{item.name: item.attr for item in ir.DictAttr(entry)} for entry in ir.ArrayAttr(main.attributes[key])]


def _name(level: Level, main: func.FuncOp, entry: dict[str, ir.Attribute]) -> str | None:
    name = entry.get("ai.name")
    if name is not None and not isinstance(name, ir.StringAttr):
        raise refuse(level, main, f"@main with ai.name = {name}: a name is a string")
    return None if name is None else name.value


def _check_element(level: Level, main: func.FuncOp, kind: ir.Type, entry: dict[str, ir.Attribute]) -> None:
    """`ai.element` is a type that is kept in memory as the argument is. Raises SpecError."""
    declared = entry.get("ai.element")
    if declared is None:
        return
    element = declared.value if isinstance(declared, ir.StringAttr) else ""
    have = str(kind.element_type) if isinstance(kind, ir.ShapedType) else str(kind)
    if element not in ELEMENTS or storage_element(element) != have:
        raise refuse(level, main, f"@main with ai.element = {declared} on an argument of type {kind}")
