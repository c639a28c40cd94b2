"""Pipelines as text: mlir-opt's syntax, our passes and upstream's mixed in one order.

    builtin.module(ai-fold-bn,func.func(canonicalize,cse),ai-group-kernels{max-ops=8})

The outer `builtin.module(...)` may be left out. A name aiopt does not have is given to upstream as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

from mlir import ir
from mlir.passmanager import PassManager

from aiopt.dialects import ext
from aiopt.passes import spec
from aiopt.passes.base import FunctionPass, NamedPipeline, Pass, functions
from aiopt.passes.registry import registered
from aiopt.passes.unit import Unit
from aiopt.support.arguments import did_you_mean
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


class Observer(Protocol):
    """Something told of every run in this process: of each step and those that follow it, and of the end."""

    def before(self, steps: Sequence[str], unit: Unit) -> None: ...
    def end(self, unit: Unit) -> None: ...


_observers: list[Observer] = []


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Tell an observer of every run inside the `with` block, whoever starts it."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


def parse(text: str) -> Nest:
    """Parse pipeline text. Raises OptionError that names the place."""
    reader = _Reader(text)
    items = reader.items("")
    if len(items) == 1 and isinstance(items[0], Nest) and items[0].anchor == "builtin.module":
        return items[0]
    return Nest("builtin.module", tuple(items))


def run(unit: Unit, pipeline: Nest | str) -> None:
    """Run a pipeline. After each step the IR is verified and held against its level's spec.

    Upstream's passes that follow each other are one step, unless somebody observes.
    Raises CompileError naming the pass if it fails, SpecError if it leaves its level, OptionError on bad text.
    """
    nest = parse(pipeline) if isinstance(pipeline, str) else pipeline
    steps = expand(nest.items)
    texts = [str(step) for step in steps]
    with unit.module.context, ir.Location.unknown():
        _check_names(steps, "builtin.module")
        if _observers:
            for index, step in enumerate(steps):
                for observer in _observers:
                    observer.before(texts[index:], unit)
                _run_step(unit, step)
        else:
            for is_ours, group in groupby(steps, _is_ours):
                (_run_each if is_ours else _run_joined)(unit, list(group))
    for observer in _observers:
        observer.end(unit)


def expand(steps: Sequence[Step]) -> list[Pass | Upstream | Nest]:
    """The steps with named pipelines replaced by their passes."""
    found: list[Pass | Upstream | Nest] = []
    for step in steps:
        if isinstance(step, NamedPipeline):
            for text in step.passes():
                found += expand(parse(text).items)
        else:
            found.append(step)
    return found


def _run_each(unit: Unit, steps: Sequence[Pass | Upstream | Nest]) -> None:
    for step in steps:
        _run_step(unit, step)


def _run_joined(unit: Unit, steps: Sequence[Pass | Upstream | Nest]) -> None:
    """Run upstream's passes as one step: checking costs more than most of them.

    If that goes wrong, they are repeated one at a time on a copy, which names the one at fault.
    """
    if len(steps) == 1:
        return _run_step(unit, steps[0])
    before = unit.module.operation.clone(ip=False)  # pyright: ignore[reportArgumentType]: detached
    try:
        _run_step(unit, Upstream(",".join(map(str, steps))))
    except AioptError:
        bytecode: Any = before.operation.get_asm(binary=True, enable_debug_info=True)
        _run_each(Unit(ir.Module.parse(bytecode), unit.weights), steps)
        raise  # only together do they go wrong


def _run_step(unit: Unit, step: Pass | Upstream | Nest) -> None:
    if isinstance(step, Pass):
        _run_ours(unit, step)
    elif isinstance(step, Nest) and _is_ours(step):
        _run_on_functions(unit, step)
    else:
        _run_upstream(unit.module.operation, str(step))
    _check(unit, str(step))


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


def _check_names(steps: Sequence[Step], anchor: str) -> None:
    """Let upstream read its part of the pipeline before anything runs. Raises OptionError."""
    for step in steps:
        if isinstance(step, Nest) and _is_ours(step):
            _check_names(step.items, step.anchor)
        elif isinstance(step, (Nest, Upstream)):
            _build(anchor, str(step))


def _build(anchor: str, text: str) -> PassManager:
    try:
        return PassManager.parse(f"{anchor}({text})")
    except ValueError as error:
        if unknown := re.search(r"'([^']*)' does not refer to a registered pass", str(error)):
            guess = did_you_mean(unknown[1], registered())
            raise OptionError(f"no pass is called '{unknown[1]}'{guess} (aiopt --list-passes shows all)") from error
        raise OptionError(f"bad option in '{text}': {error_text(error)}") from error


def _run_upstream(op: ir.Operation, text: str) -> None:
    try:
        _build(op.name, text).run(op)
    except ir.MLIRError as error:
        raise CompileError(f"{text}: {error_text(error)}") from error


def _check(unit: Unit, step: str) -> None:
    try:
        unit.module.operation.verify()
        level = unit.level
        if level not in spec.UPSTREAM_ONLY:
            ext.verify(unit.module)
        if level is not None:
            spec.check(unit.module, level)
    except ir.MLIRError as error:
        raise CompileError(f"{step} left invalid IR: {error_text(error)}") from error
    except AioptError as error:
        raise type(error)(f"after {step}: {error}") from error


def _level(unit: Unit) -> str:
    return unit.level.value if unit.level else "of no level"


def _is_ours(step: Step) -> bool:
    return isinstance(step, (Pass, NamedPipeline)) or (isinstance(step, Nest) and has_ours(step))


def has_ours(nest: Nest) -> bool:
    """True if a pass or pipeline of aiopt's own stands in it."""
    return any(map(_is_ours, nest.items))


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
        return OptionError(f"pipeline: {what} at '{self.text[self.at : self.at + 20]}' (column {self.at + 1})")


def _split_options(name: str, text: str) -> dict[str, str]:
    options = {}
    for part in text.split():
        key, equals, value = part.partition("=")
        if not equals:
            raise OptionError(f"{name}: options are key=value, not '{part}'")
        options[key] = value
    return options
