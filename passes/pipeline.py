"""Running pipelines: our passes and upstream's in one order, with a check after each step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, Protocol

from mlir import ir
from mlir.passmanager import PassManager

from aiopt.dialects import ext
from aiopt.passes import spec
from aiopt.passes.base import FunctionPass, NamedPipeline, Pass, functions
from aiopt.passes.managers import pass_manager
from aiopt.passes.pipeline_text import Nest, Step, Upstream, parse
from aiopt.passes.registry import registered
from aiopt.passes.unit import Unit
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import AioptError, CompileError, PipelineError


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


def run(unit: Unit, pipeline: Nest | str) -> None:
    """Run a pipeline. After each step the IR is verified and held against its level's spec.

    Upstream's passes that follow each other are one step, unless somebody observes.
    Raises CompileError naming the pass if it fails, SpecError if it leaves its level, OptionError on bad text.
    """
    nest = parse(pipeline) if isinstance(pipeline, str) else pipeline
    steps = expand(nest.items)
    with unit.module.context, ir.Location.unknown():
        _check_names(steps, "builtin.module", unit.module.context)
        if _observers:
            texts = [str(step) for step in steps]
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
        raise PipelineError(f"aiopt's own passes can be nested in func.func only, not in {nest.anchor}")
    for function in functions(unit.module):
        for step in nest.items:
            if isinstance(step, FunctionPass):
                step.run_on_function(function, unit)
            elif isinstance(step, Upstream):
                _run_upstream(function.operation, str(step))
            else:
                raise PipelineError(f"{step} works on a whole module and cannot stand inside func.func(...)")


def _check_names(steps: Sequence[Step], anchor: str, context: ir.Context) -> None:
    """Let upstream read its part of the pipeline before anything runs. Raises OptionError."""
    for step in steps:
        if isinstance(step, Nest) and _is_ours(step):
            _check_names(step.items, step.anchor, context)
        elif isinstance(step, (Nest, Upstream)):
            _build(anchor, str(step), context)


def _build(anchor: str, text: str, context: ir.Context) -> PassManager:
    try:
        return pass_manager(context, f"{anchor}({text})")
    except ValueError as error:
        if unknown := re.search(r"'([^']*)' does not refer to a registered pass", str(error)):
            guess = did_you_mean(unknown[1], registered())
            raise PipelineError(f"no pass is called '{unknown[1]}'{guess} (aiopt --list-passes shows all)") from error
        raise PipelineError(f"bad option in '{text}': {error_text(error)}") from error


def _run_upstream(op: ir.Operation, text: str) -> None:
    try:
        _build(op.name, text, op.context).run(op)
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
