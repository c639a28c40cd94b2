"""The CPU as a target: its stages and what it emits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from aiopt.passes.lower.plan_memory import pack_weights
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.runtime.net import CompiledNet
from aiopt.targets.base import Stage, Target
from aiopt.targets.cpu.codegen import lower_pipeline, to_assembly, to_llvm_ir, to_object
from aiopt.targets.cpu.record import host


class CpuTarget(Target):
    """Code for the CPU this process runs on."""

    name: ClassVar[str] = "cpu"
    kinds: ClassVar[tuple[str, ...]] = ("llvm", "asm", "obj")
    loadable: ClassVar[str] = "obj"

    def stages(self) -> list[Stage]:
        return [
            Stage("graph", Level.GRAPH, Level.KERNELS, "ai-kernels-pipeline"),
            Stage("tensor", Level.KERNELS, Level.TENSOR, "convert-ai-to-linalg"),
            Stage("loops", Level.TENSOR, Level.LOOPS, "ai-loops-pipeline"),
            Stage("llvm", Level.LOOPS, Level.LLVM, lower_pipeline(host())),
        ]

    def emit(self, unit: Unit, kind: str) -> bytes:
        llvm_ir = to_llvm_ir(unit)
        if kind == "llvm":
            return llvm_ir.encode()
        return to_object(llvm_ir, host()) if kind == "obj" else to_assembly(llvm_ir, host()).encode()

    def load(self, unit: Unit, code: bytes, threads: int, report: Mapping[str, Any]) -> CompiledNet:
        name = unit.module.operation.attributes["ai.net"].value
        return CompiledNet(name, code, pack_weights(unit.module, unit.weights), report, threads)
