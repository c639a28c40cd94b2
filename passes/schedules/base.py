"""Passes that run a schedule, a transform.named_sequence, on each kernel; and the same schedules as a file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import func
from mlir.dialects.transform import interpreter

from aiopt.passes import registry
from aiopt.passes.base import FunctionPass, functions
from aiopt.passes.pipeline_text import parse
from aiopt.passes.unit import Unit
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import CompileError, PipelineError

_ENTRY = "__transform_main"  # what mlir-opt --transform-interpreter runs


@dataclass(frozen=True)
class SchedulePass(FunctionPass):
    """A pass that transforms each kernel by a schedule made for it."""

    @abstractmethod
    def schedule(self, function: func.FuncOp, name: str) -> str | None:
        """A transform.named_sequence @`name` that takes the function, as text; None leaves the function as it is."""

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> bool:
        sequence = self.schedule(function, "schedule")
        if sequence:
            module = ir.Module.parse(_library([sequence]))
            interpreter.apply_named_sequence(function.operation, module.body.operations[0], module.operation)
        return bool(sequence)


def write_schedule(unit: Unit, schedule: SchedulePass) -> str:
    """What a pass would do to a unit as a transform module, for stock `mlir-opt --transform-interpreter`.

    Its @__transform_main finds each kernel by its name and includes the kernel's own sequence.
    Raises CompileError if the unit is not of the level that the pass takes.
    """
    if unit.level not in (schedule.requires, None):
        assert unit.level is not None
        assert schedule.requires is not None
        raise CompileError(
            f"{schedule.name} takes IR of level {schedule.requires.value}, but this is {unit.level.value}"
        )
    made: dict[str, str] = {}
    with unit.module.context:
        for function in functions(unit.module):
            name = function.name.value
            if sequence := schedule.schedule(function, name):
                made[name] = sequence
        return str(ir.Module.parse(_library([_entry(made), *made.values()])))


def find_schedule(text: str) -> SchedulePass:
    """The schedule pass that a text such as `schedule-tile-and-fuse{rows=4}` names. Raises OptionError."""
    steps = parse(text).items
    if len(steps) == 1 and isinstance(steps[0], SchedulePass):
        return steps[0]
    known = sorted(name for name, cls in registry.registered().items() if issubclass(cls, SchedulePass))
    raise PipelineError(f"'{text}' is not one schedule{did_you_mean(text, known)} (there is: {', '.join(known)})")


def _entry(names: Sequence[str] | dict[str, str]) -> str:
    any_op = "!transform.any_op"
    lines = [f"transform.named_sequence @{_ENTRY}(%module: {any_op} {{transform.readonly}}) {{"]
    for number, name in enumerate(names):
        lines += [
            f'  %{number} = transform.structured.match ops{{["func.func"]}} attributes {{sym_name = "{name}"}} '
            f"in %module : ({any_op}) -> {any_op}",
            f"  transform.include @{name} failures(propagate) (%{number}) : ({any_op}) -> ()",
        ]
    return "\n".join([*lines, "  transform.yield", "}"])


def _library(sequences: Sequence[str]) -> str:
    return "\n".join(["module attributes {transform.with_named_sequence} {", *sequences, "}"])
