"""From a module at level LLVM to text, assembly or an object: what the driver calls."""

from __future__ import annotations

from mlir.dialects import llvm

from aiopt.passes import spec
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError
from aiopt.support.target import TargetRecord
from aiopt.targets.cpu.llvmc import compile_llvm_ir
from aiopt.targets.cpu.pipeline import CpuLowerPipeline


def lower_pipeline(record: TargetRecord) -> str:
    """The pipeline text that takes LOOPS to LLVM for this CPU."""
    return str(CpuLowerPipeline(features=",".join(record.features)))


def to_llvm_ir(unit: Unit) -> str:
    """LLVM IR as text. Raises CompileError if the module is not at level LLVM."""
    if unit.level is not Level.LLVM:
        level = unit.level.value if unit.level else "of no level"
        raise CompileError(f"LLVM IR is made from IR of level llvm, but this is {level}: run ai-cpu-lower-pipeline")
    spec.check(unit.module, Level.LLVM)  # translating an op that is not lowered would crash
    return llvm.translate_module_to_llvmir(unit.module.operation)  # pyright: ignore[reportAttributeAccessIssue]


def to_object(llvm_ir: str, record: TargetRecord) -> bytes:
    """An ELF object, position independent, with `aiopt_<net>_run` and `aiopt_<net>_info`."""
    return compile_llvm_ir(llvm_ir, record, "obj")


def to_assembly(llvm_ir: str, record: TargetRecord) -> str:
    """The same as assembly text."""
    return compile_llvm_ir(llvm_ir, record, "asm").decode()
