"""Pipelines as pass managers of upstream's, with our passes in them as external passes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from mlir import ir

from aiopt.passes.base import FunctionPass, Pass
from aiopt.passes.diagnostics import NativeFailure, caught, error_text
from aiopt.passes.native import Manager
from aiopt.passes.pipeline_text import MODULE, Nest, Upstream, has_ours
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError, PipelineError

if TYPE_CHECKING:
    from mlir.dialects import func

FUNCTION = "func.func"
_RESTRICTED = re.compile(r"Can't add pass '.*' restricted to '([\w.]+)' on")


@dataclass
class Counted:
    """What one pass of ours counted: its statistics as declared (name, description), and the numbers."""

    name: str
    declared: Mapping[str, str]
    counts: Counter[str] = field(default_factory=Counter)


@dataclass
class Built:
    """A pass manager for one pipeline, ready to run on the module of a unit or on an op in it."""

    text: str
    unit: Unit
    native: Manager
    counted: list[Counted] = field(default_factory=list)
    op: ir.Operation | None = None  # what it runs on, the module if nothing else is said
    failure: list[BaseException] = field(default_factory=list)  # what a pass of ours raised

    def run(self) -> None:
        """Raises CompileError naming the passes if one fails, or what a pass of ours raised."""
        self.failure.clear()
        with caught(self.unit.module.context, CompileError, self.text):
            good = self.native.run(self.op or self.unit.module.operation)
            if self.failure:
                raise self.failure[0]
            if not good:
                raise NativeFailure(self.text)

    def guarded(self, counted: Counted, work: Callable[[], None]) -> bool:
        """Call `work` inside native code, which no exception may leave: it is kept and raised when that is done."""
        self.unit.counts = counted.counts
        try:
            with ir.Location.unknown(self.unit.module.context):
                work()
        except BaseException as error:
            self.failure.append(error)
            return False
        return True


_known: WeakKeyDictionary[ir.Context, dict[tuple[str, bool], Manager]] = WeakKeyDictionary()


def ready(nest: Nest, unit: Unit, implicit_nesting: bool = False) -> Built:
    """As `build`, but upstream's passes are set up once in a context, which takes longer than running most of them."""
    if has_ours(nest):
        return build(nest, unit, implicit_nesting)
    known = _known.setdefault(unit.module.context, {})
    key = (str(nest), implicit_nesting)
    if key not in known:
        known[key] = build(nest, unit, implicit_nesting).native
    return Built(_text(nest), unit, known[key])


def build(nest: Nest, unit: Unit, implicit_nesting: bool = False) -> Built:
    """A pass manager for the module of a unit. Named pipelines must have been expanded.

    Raises OptionError on a pass that does not exist or cannot stand where it does, or on a wrong option.
    """
    native = Manager(nest.anchor)
    built = Built(_text(nest), unit, native)
    _fill(built, native.top, nest, (nest.anchor,), implicit_nesting)
    return built


def _text(nest: Nest) -> str:
    return ",".join(map(str, nest.items))


def _fill(built: Built, parent: int, nest: Nest, anchors: tuple[str, ...], implicit_nesting: bool = False) -> None:
    for item in nest.items:
        if isinstance(item, Nest):
            _fill(built, built.native.nested(parent, item.anchor), item, (*anchors, item.anchor))
        elif isinstance(item, Upstream):
            _add_upstream(built, parent, item, implicit_nesting)
        else:
            assert isinstance(item, Pass), "named pipelines must be expanded first"
            _add_ours(built, parent, item, anchors)


def _add_upstream(built: Built, parent: int, item: Upstream, implicit_nesting: bool) -> None:
    complaint = built.native.add_text(parent, item.text)
    if implicit_nesting and (anchor := _RESTRICTED.search(complaint)):
        complaint = built.native.add_text(built.native.nested(parent, anchor[1]), item.text)
    if complaint:
        raise PipelineError(f"bad option in '{item}': {_one_line(complaint)}")


def _add_ours(built: Built, parent: int, item: Pass, anchors: tuple[str, ...]) -> None:
    unit, name = built.unit, type(item).__name__
    counted = Counted(name, item.statistics)
    built.counted.append(counted)
    if anchors == (MODULE,):

        def on_module(_: ir.Operation) -> bool:
            return built.guarded(counted, partial(_run_and_check, unit, item))

        built.native.add(parent, name, str(item), on_module)
    elif anchors[-1] != FUNCTION:
        raise PipelineError(f"aiopt's own passes can be nested in {FUNCTION} only, not in {anchors[-1]}")
    elif isinstance(item, FunctionPass):
        if unit.module.context.get_num_threads() > 1:  # they would wait for Python's lock, which this one holds
            raise PipelineError(
                f"{item} is written in Python and cannot stand inside {FUNCTION}(...) in a context with threads: "
                "call context.enable_multithreading(False)"
            )

        def on_function(op: ir.Operation) -> bool:
            view: Any = op.opview
            return view.is_external or built.guarded(counted, partial(_run_on_function, unit, item, view))

        built.native.add(parent, name, str(item), on_function)
    else:
        raise PipelineError(f"{item} works on a whole module and cannot stand inside {FUNCTION}(...)")


def run_ours(unit: Unit, step: Pass) -> bool:
    """Run one of our passes on a unit; False if it says that it changed nothing. Raises CompileError, or what the pass
    raises.
    """
    if step.requires is not None and unit.level not in (step.requires, None):
        level = unit.level.value if unit.level else "of no level"
        raise PipelineError(f"{step.name} takes IR of level {step.requires.value}, but this is {level}")
    with _named(step, unit):
        changed = step.run(unit)
    if step.ensures is not None:
        unit.level = step.ensures
    return changed is not False or step.ensures is not None


def _run_and_check(unit: Unit, step: Pass) -> None:
    run_ours(unit, step)
    check(unit, str(step))


def _run_on_function(unit: Unit, step: FunctionPass, function: func.FuncOp) -> None:
    with _named(step, unit):
        step.run_on_function(function, unit)


@contextmanager
def _named(step: Pass, unit: Unit) -> Iterator[None]:
    """Let MLIR's errors have the name of the pass, and hand on the remarks it makes."""
    before = len(unit.remarks)
    try:
        yield
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        raise PipelineError(f"{step.name}: {error_text(error)}") from error
    if unit.on_remark is not None:
        for remark in unit.remarks[before:]:
            unit.on_remark(step.name, remark)


def check(unit: Unit, step: str) -> None:
    """Verify a unit and hold it against its level's spec. Raises CompileError or SpecError naming the step."""
    if unit.foreign:
        return  # upstream's pass manager has verified it
    from aiopt.passes.checks import check as check_ours  # brings the specs and dialects, which take longest to load

    check_ours(unit, step)


def _one_line(complaint: str) -> str:
    """What upstream's parser says of an option, without the place in a text the user did not write like that."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    return "; ".join(lines)
