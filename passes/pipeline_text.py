"""Pipelines as text: mlir-opt's syntax, our passes and upstream's mixed in one order.

    builtin.module(ai-fold-bn,func.func(canonicalize,cse),ai-group-kernels{max-ops=8})

The outer `builtin.module(...)` may be left out. A name upstream does not have is one of aiopt's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from aiopt.passes import native
from aiopt.passes.base import NamedPipeline, Pass
from aiopt.passes.registry import PACKAGES, registered
from aiopt.support.errors import OptionError, PipelineError

_NAME = re.compile(r"[A-Za-z_][\w.-]*")
MODULE = "builtin.module"


@dataclass(frozen=True)
class Upstream:
    """A pass of upstream's, kept as text."""

    text: str

    @property
    def name(self) -> str:
        return self.text.partition("{")[0]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Nest:
    """`anchor(items)`: passes for the ops of one name."""

    anchor: str
    items: tuple[Step, ...]

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.items))})"


Step = Pass | NamedPipeline | Upstream | Nest
Plain = Pass | Upstream | Nest  # after named pipelines have been replaced by their passes


def parse(text: str) -> Nest:
    """Parse pipeline text. Raises OptionError that names the place."""
    return _parse(text, tuple(PACKAGES))


@cache
def _parse(text: str, packages: tuple[str, ...]) -> Nest:
    """packages: where names of passes come from, for a text that was read when there were fewer of them."""
    reader = _Reader(text)
    items = reader.items("")
    if len(items) == 1 and isinstance(items[0], Nest) and items[0].anchor == MODULE:
        return items[0]
    return Nest(MODULE, tuple(items))


def find_step(name: str, options: str = "") -> Step:
    """The pass or pipeline of this name with these options (`max-ops=8 x=1`). Raises OptionError if there is none."""
    if native.is_registered(name):
        return Upstream(f"{name}{{{options}}}" if options else name)
    cls = registered().get(name)
    if cls is None:
        from aiopt.support.arguments import did_you_mean  # brings argparse, which nothing else here needs

        guess = did_you_mean(name, registered())
        raise PipelineError(f"no pass is called '{name}'{guess} (aiopt --list-passes shows all)")
    return cls.from_options(_split_options(name, options))  # pyright: ignore[reportReturnType]: one of the two kinds


def expand(steps: Iterable[Step]) -> list[Plain]:
    """The steps with named pipelines replaced by their passes, at any depth."""
    found: list[Plain] = []
    for step in steps:
        if isinstance(step, NamedPipeline):
            for text in step.passes():
                found += expand(parse(text).items)
        elif isinstance(step, Nest):
            found.append(Nest(step.anchor, tuple(expand(step.items))))
        else:
            found.append(step)
    return found


def is_ours(step: Step) -> bool:
    """True if the step is a pass or pipeline of aiopt's own, or one stands in it."""
    return isinstance(step, (Pass, NamedPipeline)) or (isinstance(step, Nest) and has_ours(step))


def has_ours(nest: Nest) -> bool:
    """True if a pass or pipeline of aiopt's own stands in it."""
    return any(map(is_ours, nest.items))


def pretty(text: str) -> str:
    """Pipeline text over several lines, a pass on each, as mlir-opt --dump-pass-pipeline prints it."""
    lines: list[str] = []
    depth = braces = 0
    line = ""
    for character in text:
        braces += {"{": 1, "}": -1}.get(character, 0)
        if braces or character not in "(),":
            line += character
        elif character == "(":
            lines.append("  " * depth + line + "(")
            depth, line = depth + 1, ""
        elif character == ",":
            lines.append("  " * depth + line + ",")
            line = ""
        else:
            lines += [("  " * depth + line).rstrip(" ")] if line or lines[-1].endswith("(") else []
            depth -= 1
            line = ")"
    return "\n".join([*lines, "  " * depth + line])


class _Reader:
    """Recursive descent over pipeline text."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def items(self, close: str) -> list[Step]:
        self._space()
        if self.text[self.at : self.at + 1] == close:
            self.at += len(close)
            return []
        found = [self._item()]
        while self.text[self.at : self.at + 1] == ",":
            self.at += 1
            self._space()
            found.append(self._item())
        if self.text[self.at : self.at + 1] != close:
            raise self._error(f"expected ',' or '{close}'" if close else "expected ','")
        self.at += len(close)
        return found

    def _item(self) -> Step:
        """One step and the space after it."""
        step = self._step()
        self._space()
        return step

    def _step(self) -> Step:
        match = _NAME.match(self.text, self.at)
        if not match:
            raise self._error("expected the name of a pass")
        name, self.at = match.group(), match.end()
        if self.text[self.at : self.at + 1] == "(":
            self.at += 1
            return Nest(name, tuple(self.items(")")))
        options = self._braces() if self.text[self.at : self.at + 1] == "{" else ""
        return find_step(name, options)

    def _braces(self) -> str:
        start, depth = self.at + 1, 0
        while self.at < len(self.text):
            depth += {"{": 1, "}": -1}.get(self.text[self.at], 0)
            self.at += 1
            if depth == 0:
                return self.text[start : self.at - 1]
        raise self._error("'{' is not closed")

    def _space(self) -> None:
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1

    def _error(self, what: str) -> OptionError:
        return PipelineError(f"pipeline: {what} at '{self.text[self.at : self.at + 20]}' (column {self.at + 1})")


def _split_options(name: str, text: str) -> dict[str, str]:
    options = {}
    for part in text.split():
        key, equals, value = part.partition("=")
        if not equals:
            raise PipelineError(f"{name}: options are key=value, not '{part}'")
        options[key] = value
    return options
