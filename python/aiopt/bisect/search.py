"""The search for the first pass after which the numbers are wrong.

Levels with `ai` ops are run after every pass that changed anything. If they are right and the finished net is not, the
pass is searched among the lower ones by halving: each probe compiles all kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from mlir import ir

from aiopt.bisect.calls import Plan, read_plan
from aiopt.bisect.execute import Kernels, run_calls, run_on_numpy
from aiopt.bisect.values import Run, Tolerance
from aiopt.passes import interpret, pipeline
from aiopt.passes.adopt import adopt
from aiopt.passes.base import functions
from aiopt.passes.pipeline_text import MODULE, Nest, expand, parse
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.support.errors import OptionError
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.types import TensorType
from aiopt.targets.base import Target, remaining_stages

UPPER = (Level.GRAPH, Level.KERNELS)
LOWER = (Level.TENSOR, Level.LOOPS, Level.CPU)
IMPORT = "the import"
Progress = Callable[[str], None]


@dataclass
class State:
    """The module after a step, as bytecode, and what a run of it gave."""

    step: str
    level: Level
    code: bytes
    plan: Plan | None = None
    run: Run | None = None


@dataclass(frozen=True)
class Step:
    """A pass that was run, and the state after it, which is an older one if it changed nothing."""

    text: str
    state: State


@dataclass
class Search:
    """A search in progress: the unit on its way down, the states it was in, and what is right."""

    unit: Unit
    inputs: Mapping[str, np.ndarray]
    expected: Mapping[str, np.ndarray]
    tolerance: Tolerance
    target: Target
    progress: Progress
    states: list[State] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def kernels_state(self) -> State | None:
        """The last state of level KERNELS, whose calls the levels below are held against."""
        return next((state for state in reversed(self.states) if state.level is Level.KERNELS), None)

    def keep(self, step: str) -> State | None:
        """Note the state of the unit after a step; None if the step changed nothing."""
        code, level = bytecode(self.unit.module), self.unit.level
        assert level is not None
        if self.states and self.states[-1].code == code:
            self.steps.append(Step(step, self.states[-1]))
            return None
        plan = read_plan(self.unit.module, self.unit.weights) if level in LOWER else None
        if plan is None and self.states:
            plan = self.states[-1].plan  # @main is being taken apart, and its kernels are still called the same
        self.states.append(State(step, level, code, plan))
        self.steps.append(Step(step, self.states[-1]))
        return self.states[-1]

    def restart(self, state: State) -> Search:
        """A search of its own from a state on."""
        again = replace(self, unit=self.unit_at(state), states=[], steps=[])
        again.keep(state.step)
        return again

    def position(self, state: State) -> int:
        """The number of the step that led to a state."""
        return next(number for number, step in enumerate(self.steps) if step.state is state)

    def ops_of(self, kernel: str) -> list[str]:
        """The ops of a kernel, by its name at level KERNELS."""
        state = self.kernels_state
        unit = self.unit_at(state) if state else self.unit
        found = [function for function in functions(unit.module) if function.name.value == kernel]
        return [op.value for function in found for op in function.attributes.get("ai.ops") or ()]

    def unit_at(self, state: State) -> Unit:
        """The module of a state, to be worked on."""
        return Unit(ir.Module.parse(state.code, self.unit.module.context), self.unit.weights)

    def is_wrong(self, state: State) -> bool:
        """Run a state and hold it against what is right."""
        self.progress(f"running the IR after {state.step} ...")
        state.run = self.run(state)
        if self.tolerance.wrong_outputs(state.run.outputs, self.expected):
            return True
        calls = self.expected_calls()
        return state.level in LOWER and bool(calls) and self.tolerance.wrong_call(state.run.calls, calls) is not None

    def run(self, state: State) -> Run:
        """Run a state, whatever its level."""
        unit = self.unit_at(state)
        if state.level in UPPER:
            return run_on_numpy(unit, self.inputs)
        assert state.plan is not None
        calls = self.expected_calls()
        results = [len(results) for results in calls] or [1] * len(state.plan.calls)
        return run_calls(state.plan, Kernels(unit.module), results, self.inputs)

    def expected_calls(self) -> list[Any]:
        """What each kernel call returns where the kernels are still `ai` ops; [] if the search starts below."""
        state = self.kernels_state
        if state is None:
            return []
        state.run = state.run or run_on_numpy(self.unit_at(state), self.inputs)
        return state.run.calls


@dataclass(frozen=True)
class Finding:
    """The step after which the numbers are wrong, the states around it, and the outputs that are wrong in the end."""

    before: State | None
    after: State
    outputs: list[str]


def bisect(search: Search, passes: str = "") -> Finding | None:
    """Take the unit of a search down to code, first by `passes`; the first step at fault, None if all is right.

    Raises OptionError for IR that is below level CPU, and what the passes raise.
    """
    adopt(search.unit)
    if search.unit.level not in UPPER + LOWER:
        raise OptionError("bisect takes a model or IR of the levels above llvm")
    first = search.keep(IMPORT)
    assert first is not None
    if search.is_wrong(first):
        return _finding(search, None, first)
    for step in _steps(search, passes):
        if search.unit.level is Level.LLVM:
            break
        state = search.keep(step)
        if state and state.level in UPPER and search.is_wrong(state):
            return _finding(search, search.states[-2], state)
    outputs = _run_net(search)
    wrong = search.tolerance.wrong_outputs(outputs, search.expected)
    if not wrong:
        return None
    low, high = _halve(search)
    if high is None:
        end = State(f"{_last_step(search)} or code generation", Level.LLVM, b"", run=Run(outputs))
        return Finding(low, end, wrong)
    return _finding(search, low, high)


def _steps(search: Search, passes: str) -> Iterator[str]:
    """Run the passes one by one; yields each after it ran."""
    texts = [passes] if passes else []
    for text in texts:
        yield from _run_steps(search, text)
    assert search.unit.level is not None
    for stage in remaining_stages(search.target.stages(), search.unit.level):
        yield from _run_steps(search, stage.pipeline)


def _run_steps(search: Search, text: str) -> Iterator[str]:
    for step in expand(parse(text).items):
        pipeline.run(search.unit, Nest(MODULE, (step,)))
        yield str(step)


def _last_step(search: Search) -> str:
    stage = search.target.stages()[-1]
    return str(expand(parse(stage.pipeline).items)[-1])


def _run_net(search: Search) -> dict[str, np.ndarray]:
    search.progress("running the compiled net ...")
    code = search.target.build(search.unit, KernelCache())
    return search.target.load(search.unit, code, 1, {}).run(search.inputs)


def _halve(search: Search) -> tuple[State, State | None]:
    """Two states that follow each other, the first right, the second wrong; None if all are right."""
    lower = [number for number, state in enumerate(search.states) if state.level in LOWER]
    if not lower:
        return search.states[-1], None
    first = max(lower[0] - 1, 0)
    low, high = first, len(search.states)
    while high - low > 1:
        middle = (low + high) // 2
        if search.is_wrong(search.states[middle]):
            high = middle
        else:
            low = middle
    return search.states[low], search.states[high] if high < len(search.states) else None


def _finding(search: Search, before: State | None, after: State) -> Finding:
    assert after.run is not None
    return Finding(before, after, search.tolerance.wrong_outputs(after.run.outputs, search.expected))


def input_types(unit: Unit) -> dict[str, TensorType]:
    """The types of the inputs by name, at any level."""
    if unit.level in UPPER:
        return interpret.input_types(unit.module)
    plan = read_plan(unit.module, unit.weights) if unit.level in LOWER else None
    if plan is None:
        raise OptionError("aiopt-bisect takes a model, or IR in which @main is a list of calls on buffers")
    return {name: place.kind for name, place in plan.inputs.items()}


def bytecode(module: ir.Module) -> Any:
    """A module with its locations."""
    return module.operation.get_asm(binary=True, enable_debug_info=True)
