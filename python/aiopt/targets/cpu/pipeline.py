"""ai-cpu-lower-pipeline: LOOPS to LLVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopt.passes.base import NamedPipeline
from aiopt.passes.lower.expand_bf16 import ExpandBf16
from aiopt.passes.lower.expand_math import ExpandMath
from aiopt.targets.cpu.emit_info import EmitInfo
from aiopt.targets.cpu.hide_bf16 import HideBf16
from aiopt.targets.cpu.name_symbols import NameSymbols
from aiopt.targets.cpu.outline_tasks import OutlineTasks
from aiopt.targets.cpu.retype_empty_buffers import RetypeEmptyBuffers
from aiopt.targets.cpu.run_side_by_side import RunSideBySide

TO_LLVM = [
    # Loops and vectors to branches and rows.
    "scf-forall-to-for",
    "func.func(convert-vector-to-scf{full-unroll=true target-rank=1})",
    "convert-scf-to-cf",
    # Subviews to address arithmetic.
    "expand-strided-metadata",
    "lower-affine",
    # LLVM has an intrinsic (sqrt, fma, floor) or libm a function (exp of f64).
    "convert-math-to-llvm",
    "convert-math-to-libm",
    # arith-expand would also replace maximumf by comparisons, which LLVM cannot vectorize in a reduction, so it comes
    # after what LLVM has; it leaves arith ops of its own.
    "convert-arith-to-llvm",
    "func.func(arith-expand)",
    "convert-vector-to-llvm",
    "convert-arith-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm{use-bare-ptr-memref-call-conv=1}",
    "convert-cf-to-llvm",
    "convert-ub-to-llvm",
    "reconcile-unrealized-casts",
    "canonicalize",
    "cse",
]


# Arithmetic on bf16 and f16 is done in f32: wherever one op's result is the next one's operand it stays in f32, and is
# rounded where it is stored (`contract` on the conversions, which `canonicalize` then cancels).
WIDEN = [
    "func.func(math-extend-to-supported-types{target-type=f32})",
    "arith-emulate-unsupported-floats{source-types=bf16,f16 target-type=f32}",
]


@dataclass(frozen=True)
class CpuLowerPipeline(NamedPipeline):
    """From LOOPS to LLVM: tasks, upstream's conversions, multiply-adds, entry.

    `features`: what the code will need of the CPU (see cpu-emit-info); `fma`: see
    ai-expand-math; `bf16`: the CPU converts bf16 itself.
    """

    name: ClassVar[str] = "ai-cpu-lower-pipeline"
    features: str = ""
    fma: bool = ExpandMath.fma
    bf16: bool = False

    def passes(self) -> list[str]:
        x86 = "{enable-x86vector=true}" if "avx512bf16" in self.features.split(",") else ""
        to_llvm = [f"{text}{x86}" if text == "convert-vector-to-llvm" else text for text in TO_LLVM]
        return [
            *WIDEN,
            "canonicalize",
            "cse",
            str(ExpandMath(fma=self.fma)),
            str(ExpandBf16(native=self.bf16)),
            OutlineTasks.name,
            NameSymbols.name,
            RunSideBySide.name,
            str(EmitInfo(features=self.features)),
            RetypeEmptyBuffers.name,
            *to_llvm,
            *([] if self.bf16 else [HideBf16.name]),
            "cpu-annotate-loops",
            "cpu-contract-multiply-add",
            "cpu-emit-entry",
        ]
