"""Object code loaded by the runtime's own linker."""

from __future__ import annotations

import ctypes
import random
import subprocess
import sys
from pathlib import Path

import pytest

from aiopt.runtime.loader import LoadedCode
from aiopt.support.errors import CompileError
from e2e.native import build, compile_c

INT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
TABLE = """
#include <math.h>
static const float table[] = {1, 2, 3};
static const float *const row[] = {table + 1, table};
static int calls = 5, zeroed[1000];
float f(float x, int i) { return expf(x) + table[i]; }
float through_pointers(int i) { return *row[i]; }
int count(int by) { zeroed[999] += by; return calls += by; }
int (*pointer(void))(int) { return count; }
"""


def _load(code: bytes, symbol: str = "f") -> int:
    loaded = LoadedCode([code])
    try:
        return loaded.address(symbol)
    finally:
        loaded.close()


def test_calls_code_with_libm_constants_and_data(tmp_path: Path) -> None:
    loaded = LoadedCode([compile_c(TABLE, tmp_path)])
    f = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float, ctypes.c_int)(loaded.address("f"))
    assert f(0.0, 2) == 4.0
    through = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_int)(loaded.address("through_pointers"))
    assert (through(0), through(1)) == (2.0, 1.0)
    assert [INT(loaded.address("count"))(1) for _ in range(2)] == [6, 7]
    assert ctypes.CFUNCTYPE(ctypes.c_void_p)(loaded.address("pointer"))() == loaded.address("count")
    loaded.close()
    loaded.close()


def test_objects_are_linked_with_each_other(tmp_path: Path) -> None:
    caller = compile_c("extern int base; int twice(int); int f(int x) { return twice(x) + base; }", tmp_path)
    callee = compile_c("int base = 1; int twice(int x) { return 2 * x; }", tmp_path)
    loaded = LoadedCode([caller, callee])
    assert INT(loaded.address("f"))(20) == 41
    loaded.close()


def test_a_strong_definition_goes_before_a_weak_one(tmp_path: Path) -> None:
    weak = compile_c("__attribute__((weak)) int g(void) { return 1; } int f(int x) { return g() + x; }", tmp_path)
    strong = compile_c("int g(void) { return 2; }", tmp_path)
    for objects, result in (([weak], 1), ([weak, strong], 2), ([strong, weak], 2)):
        loaded = LoadedCode(objects)
        assert INT(loaded.address("f"))(0) == result
        loaded.close()


def test_missing_weak_symbol_is_null(tmp_path: Path) -> None:
    source = "__attribute__((weak)) int aiopt_absent(void); int f(int x) { return aiopt_absent ? 1 : x; }"
    loaded = LoadedCode([compile_c(source, tmp_path)])
    assert INT(loaded.address("f"))(7) == 7
    loaded.close()


def test_memory_is_never_both_writable_and_executable(tmp_path: Path) -> None:
    loaded = LoadedCode([compile_c(TABLE, tmp_path)])
    address = loaded.address("f")
    modes = {}
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, mode = line.split()[:2]
        begin, end = (int(word, 16) for word in span.split("-"))
        if begin <= address + 0x3000 and end > address:
            modes[begin <= address < end, mode] = True
    assert (True, "r-xp") in modes
    assert not any("w" in mode and "x" in mode for _, mode in modes)
    loaded.close()


def test_missing_symbol_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = compile_c("int aiopt_absent(int); int f(int x) { return aiopt_absent(x); }", tmp_path)
    with pytest.raises(CompileError, match="cannot load net 'x': symbol 'aiopt_absent' is defined neither in the"):
        LoadedCode([code], "net 'x'")
    with pytest.raises(CompileError, match="has no symbol 'g'"):
        _load(compile_c(TABLE, tmp_path), "g")
    assert capfd.readouterr() == ("", "")


def test_same_symbol_twice_is_an_error(tmp_path: Path) -> None:
    code = compile_c("int f(int x) { return x; }", tmp_path)
    with pytest.raises(CompileError, match="symbol 'f' is defined twice"):
        LoadedCode([code, code])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("__attribute__((constructor)) void f(void) {}", "functions to be run at load time"),
        ("_Thread_local int f = 3;", "thread-local"),
        ("__attribute__((aligned(1 << 20))) char f[1 << 20];", "alignment of 1048576 bytes"),
        ('__asm__(".section both, \\"awx\\"\\n.globl f\\nf: .long 0");', "can be written and run"),
        ("static char huge[3L << 30]; char *f = huge;", "MiB of memory"),
    ],
)
def test_what_it_does_not_take(tmp_path: Path, source: str, reason: str) -> None:
    with pytest.raises(CompileError, match=reason):
        _load(compile_c(source, tmp_path))


def test_not_relocatable(tmp_path: Path) -> None:
    compile_c(TABLE, tmp_path)
    build("-shared", tmp_path / "net.o", "-o", tmp_path / "net.so", "-lm")
    with pytest.raises(CompileError, match="not a relocatable object"):
        _load((tmp_path / "net.so").read_bytes())


def test_another_architecture(tmp_path: Path) -> None:
    code = bytearray(compile_c(TABLE, tmp_path))
    code[18:20] = (8).to_bytes(2, "little")  # e_machine = EM_MIPS
    with pytest.raises(CompileError, match="the object is for another architecture, this machine is"):
        _load(bytes(code))


def test_not_an_object() -> None:
    for data in (b"", b"this is no object file", b"\x7fELF" + bytes(100)):
        with pytest.raises(CompileError, match="cannot load objects: "):
            _load(data)


def test_truncated_object(tmp_path: Path) -> None:
    code = compile_c(TABLE, tmp_path)
    for size in range(0, len(code), 7):
        with pytest.raises(CompileError):
            _load(code[:size])


FUZZ = """
import random, sys
from aiopt.runtime.loader import LoadedCode
from aiopt.support.errors import CompileError
code, seed = open(sys.argv[1], "rb").read(), int(sys.argv[2])
generator = random.Random(seed)
for _ in range(3000):
    broken = bytearray(code)
    for _ in range(generator.choice([1, 2, 8])):
        places = generator.randrange(len(code)), generator.randrange(64), -generator.randrange(1, 1200)
        place = generator.choice(places)
        broken[place] = generator.choice([0, 1, 0x7F, 0x80, 0xFF, generator.randrange(256)])
    try:
        LoadedCode([bytes(broken)]).close()
    except CompileError:
        pass
print("alive")
"""


def test_garbage_does_not_crash(tmp_path: Path) -> None:
    """Bytes changed at random, most of them in the headers; the code is loaded, not run."""
    compile_c(TABLE, tmp_path)
    words = [sys.executable, "-c", FUZZ, str(tmp_path / "net.o"), str(random.Random(0).randrange(1 << 30))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("alive\n", 0), done.stderr


def test_use_after_close(tmp_path: Path) -> None:
    loaded = LoadedCode([compile_c(TABLE, tmp_path)])
    loaded.close()
    with pytest.raises(CompileError, match="has been freed"):
        loaded.address("f")
