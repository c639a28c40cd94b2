"""The CPU as a target: its stages and what it emits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Self

from aiopt.dialects import ext
from aiopt.passes.lower.plan_memory import pack_weights
from aiopt.passes.pipelines import LoopsPipeline
from aiopt.passes.spec.base import Level
from aiopt.passes.spec.interface import net_name
from aiopt.passes.unit import Unit
from aiopt.runtime.cpu_library import open_library
from aiopt.runtime.net import CompiledNet
from aiopt.runtime.parted import CpuPart
from aiopt.support.cost import Machine, annotated
from aiopt.support.fusion import AUTO
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.target import DEFAULTS, NO_LIBRARY, CodeOptions, TargetRecord
from aiopt.targets.base import BuiltPart, Device, Stage, Target
from aiopt.targets.cpu.codegen import (
    kernels_pipeline,
    lower_pipeline,
    tensor_pipeline,
    to_assembly,
    to_llvm_ir,
    to_object,
    to_objects,
)
from aiopt.targets.cpu.llvmc import PASSES, TEMPLATE_PASSES, flags
from aiopt.targets.cpu.record import cpu_record
from aiopt.targets.lowering import run_stages

_SPARE = 100  # per cent of the arena: the memory that threads which keep what they wrote in their caches are worth


class CpuTarget(Target, Device):
    """Code for the CPU this process runs on, or for another one, which can be emitted but not loaded."""

    name = "cpu"
    kinds: ClassVar[tuple[str, ...]] = ("llvm", "asm", "obj")

    def __init__(self, machine: str = "host", options: CodeOptions = DEFAULTS) -> None:
        self._machine, self._options = machine, options

    @property
    def _record(self) -> TargetRecord:
        return cpu_record(self._machine)  # asked late: to look at this machine loads LLVM

    def on(self, machine: str) -> Self:
        cpu_record(machine)
        return type(self)(machine, self._options)

    def with_options(self, options: CodeOptions) -> Self:
        if options.cpu_library != NO_LIBRARY:
            open_library(options.cpu_library)  # the net will be loaded here
        return type(self)(self._machine, options)

    def stages(self, amp: str = "none", fusion: str = AUTO) -> list[Stage]:
        return [
            Stage("graph", Level.GRAPH, Level.KERNELS, kernels_pipeline(self._record, amp, fusion)),
            Stage("tensor", Level.KERNELS, Level.TENSOR, tensor_pipeline(self._record, self._options)),
            Stage("loops", Level.TENSOR, Level.LOOPS, self._loops_pipeline()),
            Stage("llvm", Level.LOOPS, Level.LLVM, lower_pipeline(self._record)),
        ]

    def _loops_pipeline(self) -> str:
        return str(LoopsPipeline(cores=self._record.cores, spare=_SPARE if self._options.parallel else 0))

    def refusal(self, op: ext.Operation, unit: Unit) -> str | None:
        return None  # it has a lowering or a reference for every op

    def facts(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "machine": asdict(self._record),
            "llvm_passes": PASSES,
            "template_passes": TEMPLATE_PASSES,
            "flags": list(flags()),
        }

    def estimate(self, report: dict[str, Any]) -> dict[str, Any]:
        return annotated(report, Machine.nominal(self._record))

    def emit(self, unit: Unit, kind: str) -> bytes:
        llvm_ir = to_llvm_ir(unit)
        if kind == "llvm":
            return llvm_ir.encode()
        return to_object(llvm_ir, self._record) if kind == "obj" else to_assembly(llvm_ir, self._record).encode()

    def build(self, unit: Unit, kernels: KernelCache) -> list[bytes]:
        return to_objects(unit, self._record, kernels)

    def load(self, unit: Unit, code: Sequence[bytes], threads: int, report: Mapping[str, Any]) -> CompiledNet:
        return CompiledNet(net_name(unit.module), code, pack_weights(unit.module, unit.weights), report, threads)

    def build_part(self, unit: Unit, kernels: KernelCache) -> BuiltPart:
        report = run_stages(unit, self)
        code = self.build(unit, kernels)
        return BuiltPart(lambda threads: CpuPart(self.load(unit, code, threads, report)), report)


TARGET = CpuTarget()
