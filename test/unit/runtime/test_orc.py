"""Object code loaded by ORC."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from aiopt.runtime.orc import Jit
from aiopt.support import libllvm
from aiopt.support.errors import CompileError
from e2e.native import build, compile_c

TABLE = """
#include <math.h>
static const float table[] = {1, 2, 3};
float f(float x, int i) { return expf(x) + table[i]; }
"""


def test_calls_code_with_libm_and_constants(tmp_path: Path) -> None:
    jit = Jit()
    jit.add(compile_c(TABLE, tmp_path))
    f = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float, ctypes.c_int)(jit.address("f"))
    assert f(0.0, 2) == 4.0
    jit.close()
    jit.close()


def test_library_beside_the_process(tmp_path: Path) -> None:
    (tmp_path / "own.c").write_text("int own_twice(int x) { return 2 * x; }")
    build("-shared", "-fPIC", tmp_path / "own.c", "-o", tmp_path / "own.so")
    jit = Jit([tmp_path / "own.so"])
    jit.add(compile_c("int own_twice(int); int f(int x) { return own_twice(x) + 1; }", tmp_path))
    assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(jit.address("f"))(20) == 41
    jit.close()


def test_missing_symbols_are_named_in_the_error_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    jit = Jit()
    jit.add(compile_c("int aiopt_absent(int); int f(int x) { return aiopt_absent(x); }", tmp_path))
    with pytest.raises(CompileError, match=r"cannot link 'f': .*aiopt_absent"):
        jit.address("f")
    with pytest.raises(CompileError, match=r"cannot link 'g': .*g"):
        jit.address("g")
    jit.close()
    assert capfd.readouterr() == ("", "")


def test_not_an_object(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CompileError, match="cannot load net 'x'"):
        _load(b"this is no object file", "net 'x'")
    assert capfd.readouterr() == ("", "")


def test_truncated_object(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = compile_c(TABLE, tmp_path)
    for size in (0, 64, len(code) // 2, len(code) - 1):
        with pytest.raises(CompileError):
            _load(code[:size])
    assert capfd.readouterr() == ("", "")


def _load(code: bytes, name: str = "object") -> None:
    jit = Jit()
    try:
        jit.add(code, name)
        jit.address("f")
    finally:
        jit.close()


def test_same_symbol_twice_is_an_error(tmp_path: Path) -> None:
    jit = Jit()
    code = compile_c("int f(int x) { return x; }", tmp_path)
    jit.add(code)
    with pytest.raises(CompileError, match="f"):
        jit.add(code)
    jit.close()


def test_missing_library() -> None:
    with pytest.raises(CompileError, match="cannot open the library '/no/such.so'"):
        Jit(["/no/such.so"])


def test_use_after_close() -> None:
    jit = Jit()
    jit.close()
    with pytest.raises(CompileError, match="has been freed"):
        jit.address("f")


def test_unknown_llvm_function() -> None:
    with pytest.raises(CompileError, match="has no function LLVMNoSuchThing"):
        libllvm.function("LLVMNoSuchThing", None)
