"""Pipelines as pass managers of upstream's, with our passes in them as external passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from mlir import ir

from aiopt.passes.base import FunctionPass, Pass
from aiopt.passes.diagnostics import NativeFailure, caught, error_text
from aiopt.passes.native import Manager
from aiopt.passes.pipeline_text import MODULE, Nest, Upstream
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError, OptionError

if TYPE_CHECKING:
    from mlir.dialects import func

FUNCTION = "func.func"


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


def build(nest: Nest, unit: Unit, implicit_nesting: bool = False) -> Built:
    """A pass manager for the module of a unit. Named pipelines must have been expanded.

    Raises OptionError on a pass that does not exist or cannot stand where it does, or on a wrong option.
    """
    native = Manager(nest.anchor, implicit_nesting)
    built = Built(",".join(map(str, nest.items)), unit, native)
    _fill(built, native.top, nest, (nest.anchor,))
    return built


def _fill(built: Built, parent: int, nest: Nest, anchors: tuple[str, ...]) -> None:
    for item in nest.items:
        if isinstance(item, Nest):
            _fill(built, built.native.nested(parent, item.anchor), item, (*anchors, item.anchor))
        elif isinstance(item, Upstream):
            _add_upstream(built, parent, item)
        else:
            assert isinstance(item, Pass), "named pipelines must be expanded first"
            _add_ours(built, parent, item, anchors)


def _add_upstream(built: Built, parent: int, item: Upstream) -> None:
    if complaint := built.native.add_text(parent, item.text):
        raise OptionError(f"bad option in '{item}': {_one_line(complaint)}")


def _add_ours(built: Built, parent: int, item: Pass, anchors: tuple[str, ...]) -> None:
    unit, name = built.unit, type(item).__name__
    counted = Counted(name, item.statistics)
    built.counted.append(counted)
    if anchors == (MODULE,):

        def on_module(_: ir.Operation) -> bool:
            return built.guarded(counted, partial(_run_and_check, unit, item))

        built.native.add(parent, name, str(item), on_module)
    elif anchors[-1] != FUNCTION:
        raise OptionError(f"aiopt's own passes can be nested in {FUNCTION} only, not in {anchors[-1]}")
    elif isinstance(item, FunctionPass):
        if unit.module.context.get_num_threads() > 1:  # they would wait for Python's lock, which this one holds
            raise OptionError(
                f"{item} is written in Python and cannot stand inside {FUNCTION}(...) in a context with threads: "
                "call context.enable_multithreading(False)"
            )

        def on_function(op: ir.Operation) -> bool:
            view: Any = op.opview
            return view.is_external or built.guarded(counted, partial(_run_on_function, unit, item, view))

        built.native.add(parent, name, str(item), on_function)
    else:
        raise OptionError(f"{item} works on a whole module and cannot stand inside {FUNCTION}(...)")


def run_ours(unit: Unit, step: Pass) -> None:
    """Run one of our passes on a unit. Raises CompileError, or what the pass raises."""
    if step.requires is not None and unit.level not in (step.requires, None):
        level = unit.level.value if unit.level else "of no level"
        raise CompileError(f"{step.name} takes IR of level {step.requires.value}, but this is {level}")
    try:
        step.run(unit)
    except ir.MLIRError as error:
        raise CompileError(f"{step.name}: {error_text(error)}") from error
    if step.ensures is not None:
        unit.level = step.ensures


def _run_and_check(unit: Unit, step: Pass) -> None:
    run_ours(unit, step)
    check(unit, str(step))


def _run_on_function(unit: Unit, step: FunctionPass, function: func.FuncOp) -> None:
    try:
        step.run_on_function(function, unit)
    except ir.MLIRError as error:
        raise CompileError(f"{step.name}: {error_text(error)}") from error


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
