#!/usr/bin/env python3
"""Write the reference pages from the code: python docs/generate.py (in an environment with aiopt).

Every op, pass and pipeline that aiopt itself has; plug-ins are left out. A test fails when the pages are stale.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import get_type_hints

from aiopt.dialects import registry as dialects
from aiopt.dialects.ext import Dialect, Operation, Slot
from aiopt.dialects.slots import Attribute
from aiopt.passes import registry
from aiopt.passes.base import Configurable, FunctionPass, NamedPipeline, Pass
from aiopt.passes.pipeline_text import expand, parse
from aiopt.support import catalogue

sys.path.insert(0, str(Path(__file__).resolve().parent))
import operators

FOLDER = Path(__file__).resolve().parent / "reference"
_NOTE = "<!-- Written by docs/generate.py from the code: edit the docstrings there. -->\n"
_PARTS = re.compile(
    r"(?:^|(?<=[.\n] )|(?<=\n))(Shapes|Types|Errors|Source|Before|After|Options|Remarks): ", re.MULTILINE
)
_COUNTS = {"single": "", "optional": "optional; ", "variadic": "up to eight; "}


def pages() -> dict[str, str]:
    """The text of each page by file name."""
    registry.add_package("aiopt.targets")
    own = {name: cls for name, cls in registry.registered().items() if cls.__module__.startswith("aiopt.")}
    ops = {f"{name}.md": _dialect_page(cls) for name, cls in dialects.own_dialects().items()}
    named = {name: cls for name, cls in sorted(own.items()) if issubclass(cls, NamedPipeline)}
    passes = {name: cls for name, cls in sorted(own.items()) if issubclass(cls, Pass)}
    written = {"errors.md": _errors_page(), "operators.md": operators.page(_NOTE)}
    return {**ops, **written, "passes.md": _passes_page(passes), "pipelines.md": _pipelines_page(named)}


def main() -> None:
    """Write the pages, and remove what is no longer one."""
    FOLDER.mkdir(exist_ok=True)
    made = pages()
    for old in FOLDER.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text)


def _errors_page() -> str:
    """The pages of `aiopt --explain`, one after the other."""
    sections = [
        f"## {page.code}\n\n**{_escaped(page.title)}.** {_escaped(page.text)}\n\nWhat to do: {_escaped(page.advice)}"
        for page in catalogue.pages().values()
    ]
    head = f"{_NOTE}# Errors\n\nEach error of a command ends in its code; `aiopt --explain CODE` prints its page."
    return "\n\n".join([head, *sections]) + "\n"


def _dialect_page(dialect: type[Dialect]) -> str:
    head = f"{_NOTE}# The dialect `{dialect.namespace}`\n\n{_prose(inspect.getdoc(dialect) or '')}"
    names = sorted(dialect.operations)
    index = ", ".join(f"[{name}](#{dialect.namespace}{name})" for name in names)
    return "\n\n".join([head, index, *(_op_section(dialect.operations[name]) for name in names)]) + "\n"


def _op_section(op: type[Operation]) -> str:
    operands = [(f"`{slot.name}`", _COUNTS[slot.kind] + _slot(slot)) for slot in op.operand_slots]
    attributes = [(f"`{key}`", _attribute(declared)) for key, declared in op.attribute_slots.items()]
    results = [(f"`{slot.name}`", _slot(slot)) for slot in op.result_slots]
    parts = [f"## {op.OPERATION_NAME}", _prose(inspect.getdoc(op) or "")]
    for title, rows in (("operand", operands), ("attribute", attributes), ("result", results)):
        if rows:
            parts.append(_table((title, "type"), rows))
    if op.traits:
        parts.append(
            "Traits: " + "; ".join(sorted(f"{trait.name.lower()} ({trait.value})" for trait in op.traits)) + "."
        )
    return "\n\n".join(parts)


def _slot(slot: Slot) -> str:
    elements = getattr(slot.constraint, "elements", ())  # tensors and buffers have them, tokens do not
    listed = ", ".join(sorted(elements, key=_by_width))
    return f"{slot.constraint.text}: {listed}" if listed else slot.constraint.text


def _by_width(element: str) -> tuple[str, int, str]:
    kind = element.rstrip("0123456789")
    return kind.replace("bf", "f"), int(element.removeprefix(kind)), kind


def _attribute(declared: Attribute) -> str:
    return f"{'optional; ' if declared.optional else ''}{declared.kind.__name__}"


def _passes_page(passes: dict[str, type[Configurable]]) -> str:
    head = (
        f"{_NOTE}# Passes\n\nUpstream's passes stand beside these in every pipeline; `aiopt --list-passes` shows both."
    )
    return "\n\n".join([head, *(_pass_section(cls) for cls in passes.values() if issubclass(cls, Pass))]) + "\n"


def _pass_section(cls: type[Pass]) -> str:
    facts = []
    if cls.requires is not None:
        facts.append(f"takes level {cls.requires.value}")
    if cls.ensures is not None:
        facts.append(f"leaves level {cls.ensures.value}")
    if issubclass(cls, FunctionPass):
        facts.append("may stand in `func.func(...)`")
    level = f"Levels: {', '.join(facts)}." if facts else "Levels: any."
    counted = [_table(("statistic", "what is counted"), cls.statistics.items())] if cls.statistics else []
    text = _prose(inspect.getdoc(cls) or "")
    return "\n\n".join([f"## {cls.name}", text, level, *_options(cls), *counted, _place(cls)])


def _pipelines_page(named: dict[str, type[Configurable]]) -> str:
    head = f"{_NOTE}# Pipelines\n\nA name for a list of passes, shown with its options at their defaults."
    return "\n\n".join([head, *(_pipeline_section(cls) for cls in named.values())]) + "\n"


def _pipeline_section(cls: type[Configurable]) -> str:
    listed = ",\n".join(map(str, expand(parse(cls.name).items)))
    return "\n\n".join(
        [f"## {cls.name}", _prose(inspect.getdoc(cls) or ""), *_options(cls), f"```\n{listed}\n```", _place(cls)]
    )


def _options(cls: type[Configurable]) -> list[str]:
    hints = get_type_hints(cls)
    rows = [
        (f"`{field.name.replace('_', '-')}`", hints[field.name].__name__, _default(field.default))
        for field in fields(cls)
    ]
    return [_table(("option", "type", "default"), rows)] if rows else []


def _default(value: object) -> str:
    if value is MISSING:
        return "required"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`" if value != "" else "empty"


def _place(cls: type) -> str:
    return f"Defined in `{cls.__module__}`."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


def _prose(text: str) -> str:
    """A docstring as Markdown: what is said of shapes, types and so on becomes a list."""
    found = _PARTS.split(_escaped(text))
    lead, rest = found[0].strip(), found[1:]
    entries, more = [], []
    for key, body in zip(rest[::2], rest[1::2], strict=True):
        entry, _, after = body.partition("\n\n")
        entries.append(f"- {key}: {' '.join(entry.split())}")
        more.append(after.strip())
    return "\n\n".join(part for part in (lead, "\n".join(entries), *more) if part)


def _escaped(text: str) -> str:
    """Stars and angle brackets outside of code stand for themselves."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*<>])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


if __name__ == "__main__":
    main()
