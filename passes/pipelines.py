"""The named pipelines: read them from top to bottom to see what happens to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopt.passes.base import NamedPipeline
from aiopt.passes.graph.assign_target import AssignTarget
from aiopt.passes.graph.group_kernels import GroupKernels
from aiopt.passes.graph.merge_parallel import MergeParallel
from aiopt.passes.lower.plan_memory import PlanMemory
from aiopt.support.fusion import AUTO, MAX


@dataclass(frozen=True)
class GraphPipeline(NamedPipeline):
    """GRAPH to GRAPH: everything that makes the graph smaller before its ops are grouped into kernels."""

    name: ClassVar[str] = "ai-graph-pipeline"

    def passes(self) -> list[str]:
        return [
            "ai-canonicalize",
            "ai-fold-constants",
            "ai-cse",
            "ai-fold-batch-norm",
            "ai-expand-conv-transpose",
            "ai-fold-constants",
            "ai-canonicalize",
            "ai-cse",
            "ai-dce",
        ]


@dataclass(frozen=True)
class KernelsPipeline(NamedPipeline):
    """GRAPH to KERNELS: the optimised graph, placed, laid out and cut into kernels.

    layout: see ai-assign-layout. amp: bf16 or f16, the type for ai-amp; none keeps the model's types. target, deny: see
    ai-assign-target. fusion, vector-bits, registers, l2-bytes, cores: see ai-group-kernels.
    """

    name: ClassVar[str] = "ai-kernels-pipeline"
    layout: str = "auto"
    amp: str = "none"
    target: str = "cpu"
    deny: str = ""
    fusion: str = GroupKernels.fusion
    vector_bits: int = GroupKernels.vector_bits
    registers: int = GroupKernels.registers
    l2_bytes: int = GroupKernels.l2_bytes
    cores: int = GroupKernels.cores

    def passes(self) -> list[str]:
        machine = {key: getattr(self, key) for key in ("vector_bits", "registers", "l2_bytes", "cores")}
        parted = "," in self.target  # parts of a net share no buffer
        merges = self.fusion in (AUTO, MAX) and not parted  # what is no mode, ai-group-kernels refuses
        lowered = [] if self.amp == "none" else [f"ai-amp{{type={self.amp}}}", "ai-canonicalize", "ai-cse", "ai-dce"]
        return [
            "ai-graph-pipeline",
            *lowered,
            str(AssignTarget(target=self.target, deny=self.deny)),
            f"ai-assign-layout{{layout={self.layout}}}",
            *([str(MergeParallel(fusion=self.fusion, **machine))] if merges else []),
            *([] if parted else ["ai-place-parts"]),
            str(GroupKernels(fusion=self.fusion, **machine)),
            "ai-outline-kernels" if parted else "ai-outline-kernels{views=true}",
        ]


@dataclass(frozen=True)
class LinalgPipeline(NamedPipeline):
    """IR from elsewhere to TENSOR: a function of tosa or linalg on tensors, fused elementwise and cut into kernels."""

    name: ClassVar[str] = "ai-linalg-pipeline"

    def passes(self) -> list[str]:
        return [
            "func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor)",
            "inline",
            "symbol-dce",
            "canonicalize",
            "func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops)",
            "canonicalize",
            "cse",
            "ai-outline-linalg",
        ]


@dataclass(frozen=True)
class LoopsPipeline(NamedPipeline):
    """TENSOR to LOOPS: schedule each kernel, give it buffers, turn it into loops, plan the threads and memory of all.

    cores: see ai-plan-threads. spare: see ai-plan-memory.
    """

    name: ClassVar[str] = "ai-loops-pipeline"
    cores: int = 1
    spare: int = PlanMemory.spare

    def passes(self) -> list[str]:
        return [
            "func.func(linalg-fuse-elementwise-ops)",
            "schedule-tile-and-fuse",
            "canonicalize",
            "cse",
            "eliminate-empty-tensors",
            "one-shot-bufferize{allow-unknown-ops bufferize-function-boundaries "
            "function-boundary-type-conversion=identity-layout-map}",
            "cse",
            "canonicalize",
            "ai-allocate-scratch",
            "schedule-split-rest",
            "func.func(convert-linalg-to-loops)",
            "canonicalize",
            f"ai-plan-threads{{cores={self.cores}}}",
            str(PlanMemory(spare=self.spare)),
        ]
