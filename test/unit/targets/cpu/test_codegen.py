"""The code itself: vector instructions, symbols, targets, and what is refused."""

import re

import pytest

from aiopt.passes.spec.base import Level
from aiopt.support.errors import CompileError, OptionError
from aiopt.support.target import TargetRecord
from aiopt.targets.cpu import codegen
from aiopt.targets.cpu.record import cpu_record, host
from unit.targets.cpu.loops import lower, module, unit_of

_ROW = "memref<1024xf32>"
_AXPY = module(
    f"""
    %c1024 = arith.constant 1024 : index
    scf.for %i = %c0 to %c1024 step %c1 {{
      %a = memref.load %x[%i] : {_ROW}
      scf.for %j = %c0 to %c1024 step %c1 {{
        %b = memref.load %y[%j] : {_ROW}
        %o = memref.load %z[%j] : {_ROW}
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %o, %p : f32
        memref.store %s, %z[%j] : {_ROW}
      }}
    }}""",
    {"x": _ROW, "y": _ROW},
    {"z": _ROW},
)
_RELU = module(
    f"""
    scf.forall (%i) in (1024) {{
      %v = memref.load %x[%i] : {_ROW}
      %r = arith.maximumf %v, %zero : f32
      memref.store %r, %z[%i] : {_ROW}
    }}""",
    {"x": _ROW},
    {"z": _ROW},
)


def _function(assembly: str, name: str) -> str:
    found = re.search(rf"^kernel\.{name}:\n(.*?)\.Lfunc_end", assembly, re.S | re.M)
    assert found, f"no function {name}"
    return found.group(1)


def test_multiply_add_loop_is_vectorized() -> None:
    code = _function(codegen.to_assembly(lower(_AXPY), cpu_record("x86-64-v3")), "kernel")
    assert re.search(r"vfmadd\w+ps.*%ymm", code)


def test_multiply_add_without_fma_is_two_instructions() -> None:
    code = _function(codegen.to_assembly(lower(_AXPY), cpu_record("x86-64")), "kernel")
    assert "mulps" in code
    assert "addps" in code
    assert "fma" not in code


def test_elementwise_task_is_vectorized() -> None:
    code = _function(codegen.to_assembly(lower(_RELU), cpu_record("x86-64-v3")), "kernel_task_0")
    assert re.search(r"vmaxps.*%ymm", code)


def test_uses_no_more_than_the_record_allows() -> None:
    code = codegen.to_assembly(lower(_RELU), cpu_record("x86-64-v3"))
    assert "%zmm" not in code
    baseline = codegen.to_assembly(lower(_RELU), cpu_record("x86-64"))
    assert "%ymm" not in baseline


def test_other_architecture() -> None:
    record = TargetRecord("a", "aarch64-unknown-linux-gnu", "neoverse-n1", ("lse",), 128, 1, 0, 0, 0)
    code = _function(codegen.to_assembly(lower(_AXPY), record), "kernel")
    assert re.search(r"fmla\s+v\d+\.4s", code)


def test_object_is_elf_and_the_same_each_time() -> None:
    llvm_ir = lower(_RELU)
    code = codegen.to_object(llvm_ir, host())
    assert code.startswith(b"\x7fELF")
    assert code == codegen.to_object(llvm_ir, host())


def test_only_the_entry_and_the_info_are_visible() -> None:
    code = codegen.to_assembly(lower(_RELU), host())
    assert sorted(re.findall(r"\.globl\s+(\S+)", code)) == ["aiopt_net_info", "aiopt_net_run"]


def test_calls_libm_and_libc_alone() -> None:
    body = f"""
    %c1024 = arith.constant 1024 : index
    scf.for %i = %c0 to %c1024 step %c1 {{ memref.store %zero, %z[%i] : {_ROW} }}
    scf.forall (%i) in (1024) {{
      %v = memref.load %x[%i] : {_ROW}
      %e = math.sin %v : f32
      %f = math.cbrt %e : f32
      %g = math.powf %f, %e : f32
      memref.store %g, %z[%i] : {_ROW}
    }}"""
    code = codegen.to_assembly(lower(module(body, {"x": _ROW}, {"z": _ROW})), host())
    called = set(re.findall(r"(\w+)@(?:PLT|GOTPCREL)", code))
    assert {"sinf", "cbrtf", "powf"} <= called <= {"sinf", "cbrtf", "powf", "memset"}


def test_serial_kernels_are_not_split() -> None:
    assert "kernel_task_0.launch" in lower(_RELU)
    assert "kernel_task_0.launch" not in lower(_RELU, serial=True)


def test_broken_llvm_ir_is_an_error() -> None:
    with pytest.raises(CompileError, match="LLVM cannot read the LLVM IR: .*end of file"):
        codegen.to_object("define void @f() {", host())


def test_unknown_triple_is_an_error() -> None:
    record = TargetRecord("t", "riscv64-unknown-linux-gnu", "generic", (), 128, 1, 0, 0, 0)
    with pytest.raises(CompileError, match="no CPU code for the triple 'riscv64-unknown-linux-gnu'"):
        codegen.to_object(lower(_RELU), record)


def test_module_of_another_level_is_refused() -> None:
    with pytest.raises(CompileError, match="but this is tensor: run ai-cpu-lower-pipeline"):
        codegen.to_llvm_ir(unit_of(_RELU))
    with pytest.raises(CompileError, match="but this is of no level"):
        codegen.to_llvm_ir(unit_of("module {}"))


def test_unlowered_ops_are_named_before_llvm_sees_them() -> None:
    unit = unit_of("func.func @f() { return }")
    unit.level = Level.LLVM
    with pytest.raises(Exception, match="level llvm does not allow 'func.func'"):
        codegen.to_llvm_ir(unit)


def test_records() -> None:
    assert host().cores >= 1
    assert host().l1_bytes >= 8 << 10
    assert host().vector_bits in (128, 256, 512)
    assert cpu_record("host") is host()
    assert cpu_record("x86-64-v4").vector_bits == 512
    assert set(cpu_record("x86-64-v3").features) < set(cpu_record("x86-64-v4").features)
    with pytest.raises(OptionError, match="there is no CPU 'pentium'"):
        cpu_record("pentium")
