"""Pipelines as text: mlir-opt's syntax, our passes and upstream's mixed in one order.

    builtin.module(ai-fold-bn,func.func(canonicalize,cse),ai-group-kernels{max-ops=8})

The outer `builtin.module(...)` may be left out. A name aiopt does not have is given to upstream as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mlir import ir
from mlir.passmanager import PassManager

from aiopt.dialects import ext
from aiopt.passes import spec
from aiopt.passes.base import FunctionPass, NamedPipeline, Pass, functions
from aiopt.passes.registry import registered
from aiopt.passes.unit import Unit
from aiopt.support.errors import AioptError, CompileError, OptionError

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


class Instrument(Protocol):
    """Something told before and after each step; what it raises ends the run."""

    def before(self, step: str, unit: Unit) -> None: ...
    def after(self, step: str, unit: Unit) -> None: ...


def parse(text: str) -> Nest:
    """Parse pipeline text. Raises OptionError that names the place."""
    reader = _Reader(text)
    items = reader.items("")
    if len(items) == 1 and isinstance(items[0], Nest) and items[0].anchor == "builtin.module":
        return items[0]
    return Nest("builtin.module", tuple(items))


def run(unit: Unit, pipeline: Nest | str, instruments: Sequence[Instrument] = ()) -> None:
    """Run a pipeline. After each step the IR is verified and held against its level's spec.

    Raises CompileError naming the step if it fails, SpecError if it leaves its level, OptionError on bad text.
    """
    nest = parse(pipeline) if isinstance(pipeline, str) else pipeline
    with unit.module.context, ir.Location.unknown():
        for step in nest.items:
            _run_step(unit, step, instruments)


def _run_step(unit: Unit, step: Step, instruments: Sequence[Instrument]) -> None:
    if isinstance(step, NamedPipeline):
        for text in step.passes():
            for inner in parse(text).items:
                _run_step(unit, inner, instruments)
        return
    for instrument in instruments:
        instrument.before(str(step), unit)
    if isinstance(step, Pass):
        _run_ours(unit, step)
    elif isinstance(step, Nest) and _has_ours(step):
        _run_on_functions(unit, step)
    else:
        _run_upstream(unit.module.operation, str(step))
    _check(unit, str(step))
    for instrument in instruments:
        instrument.after(str(step), unit)


def _run_ours(unit: Unit, step: Pass) -> None:
    if step.requires is not None and unit.level not in (step.requires, None):
        raise CompileError(f"{step.name} takes IR of level {step.requires.value}, but this is {_level(unit)}")
    try:
        step.run(unit)
    except ir.MLIRError as error:
        raise CompileError(f"{step.name}: {error_text(error)}") from error
    if step.ensures is not None:
        unit.level = step.ensures


def _run_on_functions(unit: Unit, nest: Nest) -> None:
    if nest.anchor != "func.func":
        raise OptionError(f"aiopt's own passes can be nested in func.func only, not in {nest.anchor}")
    for function in functions(unit.module):
        for step in nest.items:
            if isinstance(step, FunctionPass):
                step.run_on_function(function, unit)
            elif isinstance(step, Upstream):
                _run_upstream(function.operation, str(step))
            else:
                raise OptionError(f"{step} works on a whole module and cannot stand inside func.func(...)")


def _run_upstream(op: ir.Operation, text: str) -> None:
    try:
        PassManager.parse(f"{op.name}({text})").run(op)
    except ValueError as error:
        raise OptionError(f"unknown pass or bad option in '{text}': {error_text(error)}") from error
    except ir.MLIRError as error:
        raise CompileError(f"{text}: {error_text(error)}") from error


def _check(unit: Unit, step: str) -> None:
    try:
        unit.module.operation.verify()
        ext.verify(unit.module)
        if unit.level is not None:
            spec.check(unit.module, unit.level)
    except ir.MLIRError as error:
        raise CompileError(f"{step} left invalid IR: {error_text(error)}") from error
    except AioptError as error:
        raise type(error)(f"after {step}: {error}") from error


def _level(unit: Unit) -> str:
    return unit.level.value if unit.level else "of no level"


def _has_ours(nest: Nest) -> bool:
    return any(isinstance(s, (Pass, NamedPipeline)) or (isinstance(s, Nest) and _has_ours(s)) for s in nest.items)


def error_text(error: Exception) -> str:
    """The diagnostics of an MLIR error in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    shown = [line for line in lines if line.startswith("error:")] or lines[:1]
    return "; ".join(line.removeprefix("error: ") for line in shown)


class _Reader:
    """Recursive descent over pipeline text."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def items(self, close: str) -> list[Step]:
        found: list[Step] = []
        while True:
            self._space()
            if self.text[self.at : self.at + 1] == close:
                self.at += len(close)
                return found
            found.append(self._item())
            self._space()
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
            elif self.text[self.at : self.at + 1] != close:
                raise self._error("expected ',' or ')'")

    def _item(self) -> Step:
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
        return OptionError(f"pipeline: {what} at '{self.text[self.at : self.at + 20]}' (column {self.at + 1})")


def _split_options(name: str, text: str) -> dict[str, str]:
    options = {}
    for part in text.split():
        key, equals, value = part.partition("=")
        if not equals:
            raise OptionError(f"{name}: options are key=value, not '{part}'")
        options[key] = value
    return options
