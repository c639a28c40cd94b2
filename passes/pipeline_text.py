"""The text of pipelines: mlir-opt's syntax, our passes and upstream's mixed in one order.

    builtin.module(ai-fold-bn,func.func(canonicalize,cse),ai-group-kernels{max-ops=8})

The outer `builtin.module(...)` may be left out. A name aiopt does not have is taken for one of upstream's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from aiopt.passes.base import NamedPipeline, Pass
from aiopt.passes.registry import PACKAGES, registered
from aiopt.support.errors import OptionError, PipelineError

_NAME = re.compile(r"[A-Za-z_][\w.-]*")


@dataclass(frozen=True)
class Upstream:
    """A pass of upstream's, kept as text."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Nest:
    """`anchor(items)`; only `builtin.module` and `func.func` may hold passes of ours."""

    anchor: str
    items: tuple[Step, ...]

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.items))})"


Step = Pass | NamedPipeline | Upstream | Nest


def parse(text: str) -> Nest:
    """Parse pipeline text. Raises OptionError that names the place."""
    return _parse(text, tuple(PACKAGES))


@cache
def _parse(text: str, packages: tuple[str, ...]) -> Nest:
    """packages: where names of passes come from, for a text that was read when there were fewer of them."""
    reader = _Reader(text)
    items = reader.items("")
    if len(items) == 1 and isinstance(items[0], Nest) and items[0].anchor == "builtin.module":
        return items[0]
    return Nest("builtin.module", tuple(items))


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
        cls = registered().get(name)
        if cls is None:
            return Upstream(f"{name}{{{options}}}" if options else name)
        return cls.from_options(_split_options(name, options))  # pyright: ignore[reportReturnType]

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
