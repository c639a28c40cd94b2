"""A part of a model as a chain of stages: compile what can be, run what cannot, go on with what they made known."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aiopt.frontend.onnx.importer import Deferred, Imported, import_part
from aiopt.frontend.onnx.part import Part
from aiopt.passes import io
from aiopt.passes.unit import Unit
from aiopt.runtime.base import Net
from aiopt.staged.host import HostStep
from aiopt.support.errors import UnsupportedError
from aiopt.support.types import TensorType, has_element

Values = dict[str, Any]  # arrays; where ONNX has them, lists of arrays or None
Clock = Callable[[str, float], None]  # told of each step that was run and its seconds


@dataclass(frozen=True)
class Compiler:
    """How a module becomes a net, and how many stages are kept."""

    compile: Callable[[Unit], Net]
    keep: int


@dataclass(frozen=True)
class Stage:
    """What a part became for inputs of certain types: a net, steps for the host, and the part that is left.

    constants: what is known once and for all. aliases: names that stand for others.
    binds: names whose contents the part that is left must know.
    """

    net: Net | None
    constants: Mapping[str, Any]
    aliases: Mapping[str, str]
    hosted: tuple[HostStep, ...]
    rest: Part | None
    binds: frozenset[str]


class Stages:
    """Runs a part. A stage is made at the first run with inputs of these types, and bound tensors of these contents."""

    def __init__(self, part: Part, name: str, compiler: Compiler) -> None:
        self._part = part
        self._name = name
        self._compiler = compiler
        self._lock = threading.RLock()
        self._stages: OrderedDict[tuple[Any, ...], Stage] = OrderedDict()  # the last used one last

    def run(self, inputs: Mapping[str, Any], clock: Clock | None = None) -> Values:
        """The part's outputs, from all tensors it reads from outside; they are new arrays.

        Raises UnsupportedError for what neither the compiler nor the host can run, InputError where a node refuses
        what it is given.
        """
        values, made = dict(inputs), set()
        for stage in self._walk(values):
            _run_stage(stage, values, clock)
            made.update(stage.net.outputs if stage.net is not None else ())
        return {name: values[name] if name in made else _copied(values[name]) for name in self._part.outputs}

    def prepare(self, inputs: Mapping[str, TensorType], absent: Collection[str]) -> None:
        """Compile the first stage for inputs of these types, so that errors come early."""
        read = self._part.reads() - self._part.initializers.keys()
        given = {name: inputs[name] for name in sorted(read & inputs.keys())}
        foreign = frozenset(absent) & read
        with self._lock:
            self._find(self._part, _path((), given, foreign, {}), given, foreign, {})

    def stages(self) -> list[Stage]:
        """Those that are kept, the one used last at the end."""
        with self._lock:
            return list(self._stages.values())

    def close(self) -> None:
        """Free all nets."""
        with self._lock:
            for stage in self._stages.values():
                if stage.net is not None:
                    stage.net.close()
                for step in stage.hosted:
                    step.close()
            self._stages.clear()

    def _walk(self, values: Values) -> Iterator[Stage]:
        """The stages of a run, each made when those before it have put their results into `values`."""
        part: Part | None = self._part
        path: tuple[Any, ...] = ()
        binds: frozenset[str] = frozenset()
        while part is not None:
            with self._lock:
                given, absent, bound = _sort(part, values, binds)
                path = _path(path, given, absent, bound)
                stage = self._find(part, path, given, absent, bound)
            yield stage
            part, binds = stage.rest, stage.binds

    def _find(
        self,
        part: Part,
        path: tuple[Any, ...],
        given: Mapping[str, TensorType],
        absent: frozenset[str],
        bound: Mapping[str, np.ndarray],
    ) -> Stage:
        stage = self._stages.get(path)
        if stage is None:
            if bound:
                part = Part(part.steps, part.outputs, part.initializers, {**part.arrays, **bound}, part.functions)
            stage = self._stages[path] = self._make(part, given, absent)
        self._stages.move_to_end(path)
        while len(self._stages) > self._compiler.keep:
            self._stages.popitem(last=False)  # freed when the last call in it has returned
        return stage

    def _make(self, part: Part, given: Mapping[str, TensorType], absent: frozenset[str]) -> Stage:
        context = io.new_context()
        imported = import_part(part, self._name, given, absent, context)
        net = self._compiler.compile(Unit(imported.module, imported.weights)) if imported.results else None
        constants: Values = {**part.arrays, **imported.known}
        have = {*given, *absent, *imported.results, *imported.aliases, *constants, *part.initializers}
        foreign = absent | {name for name, value in constants.items() if not has_element(value.dtype)}
        steps, left = split(
            imported.deferred, have, foreign, lambda one: HostStep(one.step, one.error, part.functions, self._runner)
        )
        hosted = fold(steps, constants)
        rest, binds = rest_of(part, imported, constants, left)
        if rest is not None and not (steps or binds or imported.results):
            raise left[0].error or UnsupportedError(f"'{left[0].step.node.name}' waits for what nothing makes")
        return Stage(net, constants, imported.aliases, hosted, rest, binds)

    def _runner(self, part: Part, name: str) -> Stages:
        """For the body of a loop."""
        return Stages(part, f"{self._name}_{name}", self._compiler)


def split(
    deferred: Iterable[Deferred], have: set[str], foreign: Collection[str], host: Callable[[Deferred], HostStep | None]
) -> tuple[list[HostStep], list[Deferred]]:
    """The steps that are run on the host now, and those that are left. `have` grows by what the former make.

    foreign: names of what no net takes; who reads one is run on the host. host: makes such a step.
    """
    hosted: list[HostStep] = []
    left: list[Deferred] = []
    for one in deferred:
        reads = one.step.reads()
        if reads <= have and not one.tensor and (one.error or reads & set(foreign)):
            if (step := host(one)) is not None:
                hosted.append(step)
            have.update(one.step.makes())
        else:
            left.append(one)
    return hosted, left


def _run_stage(stage: Stage, values: Values, clock: Clock | None) -> None:
    """Put what a stage makes into `values`."""
    values.update(stage.constants)
    values.update({name: values[source] for name, source in stage.aliases.items()})
    if stage.net is not None:
        inputs = {name: values[name] for name in stage.net.inputs}
        if clock is not None:
            for kernel, seconds in stage.net.profile(inputs):
                clock(kernel, seconds)
        values.update(stage.net.run(inputs))
    for step in stage.hosted:
        start = time.perf_counter()
        values.update(step.run(values))
        if clock is not None:
            clock(step.label, time.perf_counter() - start)


def _copied(value: Any) -> Any:
    """What no net made may be an input, a constant, or a view of one."""
    if isinstance(value, list):
        return [_copied(one) for one in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def fold(steps: list[HostStep], constants: Values) -> tuple[HostStep, ...]:
    """Run the steps that read nothing but constants, whose outputs are constants too; the others."""
    kept = []
    for one in steps:
        reads = one.step.reads()
        if reads and reads <= constants.keys() and one.is_foldable:
            constants.update(one.run(constants))
        else:
            kept.append(one)
    return tuple(kept)


def rest_of(
    part: Part, imported: Imported, constants: Values, left: list[Deferred]
) -> tuple[Part | None, frozenset[str]]:
    """The part that is left, and the names whose contents it must know."""
    if not left:
        return None, frozenset()
    steps = tuple(one.step for one in left)
    reads = {name for step in steps for name in step.reads()} | set(part.outputs)
    initializers = {name: tensor for name, tensor in imported.initializers.items() if name in reads}
    arrays = {name: array for name, array in constants.items() if name in reads and isinstance(array, np.ndarray)}
    initializers = {name: tensor for name, tensor in initializers.items() if name not in arrays}
    binds = frozenset(one.tensor for one in left if one.tensor)
    return Part(steps, part.outputs, initializers, arrays, part.functions), binds


def _sort(
    part: Part, values: Values, binds: frozenset[str]
) -> tuple[dict[str, TensorType], frozenset[str], dict[str, np.ndarray]]:
    """What a part reads from outside: types of tensors, names of what is none, contents of what must be known."""
    given: dict[str, TensorType] = {}
    absent: set[str] = set()
    bound: dict[str, np.ndarray] = {}
    for name in sorted(part.reads() & values.keys() - part.arrays.keys() - part.initializers.keys()):
        value = values[name]
        if not (isinstance(value, np.ndarray) and has_element(value.dtype)):
            absent.add(name)
        elif name in binds:
            bound[name] = value
        else:
            given[name] = TensorType.of(value)
    return given, frozenset(absent), bound


def _path(
    before: tuple[Any, ...], given: Mapping[str, TensorType], absent: frozenset[str], bound: Mapping[str, np.ndarray]
) -> tuple[Any, ...]:
    """What a stage depends on: the stages before it, the types of its inputs, and contents that must be known."""
    contents = tuple((name, str(array.dtype), array.shape, array.tobytes()) for name, array in bound.items())
    return before, tuple(given.items()), absent, contents
