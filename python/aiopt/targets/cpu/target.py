"""The CPU as a target: its stages and what it emits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

from aiopt.passes.lower.plan_memory import pack_weights
from aiopt.passes.pipelines import KernelsPipeline
from aiopt.passes.spec.base import Level
from aiopt.passes.spec.interface import net_name
from aiopt.passes.unit import Unit
from aiopt.runtime.net import CompiledNet
from aiopt.support.kernel_cache import KernelCache
from aiopt.targets.base import Stage, Target
from aiopt.targets.cpu.codegen import lower_pipeline, tensor_pipeline, to_assembly, to_llvm_ir, to_object, to_objects
from aiopt.targets.cpu.llvmc import PASSES, TEMPLATE_PASSES, flags
from aiopt.targets.cpu.record import host


class CpuTarget(Target):
    """Code for the CPU this process runs on."""

    name: ClassVar[str] = "cpu"
    kinds: ClassVar[tuple[str, ...]] = ("llvm", "asm", "obj")

    def stages(self, amp: str = "none") -> list[Stage]:
        return [
            Stage("graph", Level.GRAPH, Level.KERNELS, str(KernelsPipeline(amp=amp))),
            Stage("tensor", Level.KERNELS, Level.TENSOR, tensor_pipeline(host())),
            Stage("loops", Level.TENSOR, Level.LOOPS, "ai-loops-pipeline"),
            Stage("llvm", Level.LOOPS, Level.LLVM, lower_pipeline(host())),
        ]

    def facts(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "machine": asdict(host()),
            "llvm_passes": PASSES,
            "template_passes": TEMPLATE_PASSES,
            "flags": list(flags()),
        }

    def emit(self, unit: Unit, kind: str) -> bytes:
        llvm_ir = to_llvm_ir(unit)
        if kind == "llvm":
            return llvm_ir.encode()
        return to_object(llvm_ir, host()) if kind == "obj" else to_assembly(llvm_ir, host()).encode()

    def build(self, unit: Unit, kernels: KernelCache) -> list[bytes]:
        return to_objects(unit, host(), kernels)

    def load(self, unit: Unit, code: Sequence[bytes], threads: int, report: Mapping[str, Any]) -> CompiledNet:
        return CompiledNet(net_name(unit.module), code, pack_weights(unit.module, unit.weights), report, threads)
