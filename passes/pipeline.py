"""Run pipelines: upstream's passes in its pass manager, ours between and inside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, Protocol

from mlir import ir

from aiopt.passes import manager
from aiopt.passes.base import Pass
from aiopt.passes.instruments import Instruments, run_instrumented
from aiopt.passes.manager import check, run_ours
from aiopt.passes.pipeline_text import MODULE, Nest, Plain, Upstream, expand, is_ours, parse
from aiopt.passes.unit import Unit
from aiopt.support.errors import AioptError


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


def run(
    unit: Unit, pipeline: Nest | str, instruments: Instruments | None = None, implicit_nesting: bool = False
) -> None:
    """Run a pipeline. After each step the IR is verified and held against its level's spec; not after one of ours that
    says it has changed nothing, unless it is the first.

    Upstream's passes that follow each other are one step, unless somebody observes; with instruments all is one step.
    implicit_nesting: passes for functions may stand where modules are worked on.
    Raises CompileError naming the pass if it fails, SpecError if it leaves its level, OptionError on bad text.
    """
    nest = parse(pipeline) if isinstance(pipeline, str) else pipeline
    steps = expand(nest.items)
    texts = [str(step) for step in steps] if _observers or instruments else []
    with unit.module.context, ir.Location.unknown():
        for step in steps:  # finds mistakes before anything runs; a pass of ours cannot be one, by itself
            if not is_ours(step):
                manager.ready(Nest(MODULE, (step,)), unit, implicit_nesting)
        if instruments is not None:
            for observer in _observers:
                observer.before(texts, unit)
            run_instrumented(unit, Nest(nest.anchor, tuple(steps)), instruments, implicit_nesting)
            if instruments.verify:
                check(unit, ",".join(texts))
        elif _observers:
            for index, step in enumerate(steps):
                for observer in _observers:
                    observer.before(texts[index:], unit)
                _run_step(unit, step, index > 0, implicit_nesting)
        else:
            checked = False
            for ours, group in groupby(steps, is_ours):
                (_run_each if ours else _run_joined)(unit, list(group), checked)
                checked = True
    for observer in _observers:
        observer.end(unit)


def _run_each(unit: Unit, steps: Sequence[Plain], checked: bool) -> None:
    for index, step in enumerate(steps):
        _run_step(unit, step, checked or index > 0)


def _run_joined(unit: Unit, steps: Sequence[Plain], checked: bool) -> None:
    """Run upstream's passes as one step: checking costs more than most of them.

    If that goes wrong, they are repeated one at a time on a copy, which names the one at fault.
    """
    if len(steps) == 1:
        return _run_step(unit, steps[0], checked)
    before = unit.module.operation.clone(ip=False)  # pyright: ignore[reportArgumentType]: detached
    try:
        _run_step(unit, Upstream(",".join(map(str, steps))), checked)
    except AioptError:
        bytecode: Any = before.operation.get_asm(binary=True, enable_debug_info=True)
        _run_each(Unit(ir.Module.parse(bytecode), unit.weights), steps, checked)
        raise  # only together do they go wrong


def _run_step(unit: Unit, step: Plain, checked: bool, implicit_nesting: bool = False) -> None:
    """checked: the module has been checked, and need not be again if the step changes nothing."""
    if isinstance(step, Pass):
        if not run_ours(unit, step) and checked:
            return
    else:
        manager.ready(Nest(MODULE, (step,)), unit, implicit_nesting).run()
    check(unit, str(step))
