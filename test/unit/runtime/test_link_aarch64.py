"""Relocations of AArch64, linked on any machine and decoded by hand: what each instruction refers to.

Oracle: the encodings in the Arm Architecture Reference Manual.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from aiopt.support import libllvm
from e2e.native import build

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[2] / "python" / "aiopt" / "runtime" / "src"
OUTSIDE = 0x123456789AB0
PAGE = 4096
ASSEMBLY = """
.text
.globl f
f:
  bl near
  bl outside
  adrp x0, :got:outside
  ldr x0, [x0, :got_lo12:outside]
  adrp x1, table
  add x1, x1, :lo12:table
  ldrb w2, [x1, :lo12:table + 1]
  ldrh w2, [x1, :lo12:table + 2]
  ldr w2, [x1, :lo12:table + 4]
  ldr x2, [x1, :lo12:table + 8]
  ldr q2, [x1, :lo12:table + 16]
  adr x3, near
  b.eq near
  tbz x0, 1, near
  b near
.globl near
near:
  ret
.section .rodata, "a"
.zero 48
.balign 16
.globl table
table: .zero 32
.section .data.rel.ro, "aw"
.globl pointers
pointers:
  .xword near + 4
  .xword near - .
  .word near - .
  .word 7
.data
.globl data
data: .xword outside
"""


@dataclass(frozen=True)
class Linked:
    base: int
    symbols: dict[str, int]
    memory: bytes

    def number(self, address: int, size: int = 4) -> int:
        return int.from_bytes(self.memory[address - self.base :][:size], "little")

    def branch(self, address: int, low: int, bits: int) -> int:
        """Target of a branch whose immediate, in words, has `bits` bits from bit `low` on."""
        return address + 4 * _signed(self.number(address) >> low, bits)

    def adr(self, address: int) -> int:
        word = self.number(address)
        return _signed((word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3, 21)

    def page(self, address: int) -> int:
        """What an ADRP puts into its register."""
        return address // PAGE * PAGE + self.adr(address) * PAGE

    def low(self, address: int, scale: int) -> int:
        return (self.number(address) >> 10 & 0xFFF) * scale


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("link") / "link"
    sources = [SOURCES / f"{name}.cpp" for name in ("architecture_aarch64", "architecture_x86")]
    sources += [SOURCES / f"{name}.cpp" for name in ("elf_reader", "image", "linker")]
    build("-std=c++17", "-O1", f"-I{SOURCES}", HERE / "link_aarch64.cpp", *sources, "-o", output, compiler="c++")
    return output


def _run(program: Path, folder: Path, assembly: str, *symbols: str) -> str:
    (folder / "x.s").write_text(assembly)
    assembler = libllvm.path().parents[1] / "bin" / "llvm-mc"
    words = [assembler, "-triple=aarch64-linux-gnu", "-filetype=obj", folder / "x.s", "-o", folder / "x.o"]
    subprocess.run(words, check=True)
    return subprocess.run([program, folder / "x.o", *symbols], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def linked(program: Path, tmp_path: Path) -> Linked:
    names = ("f", "near", "table", "pointers", "data")
    base, *addresses, memory = _run(program, tmp_path, ASSEMBLY, *names).split("\n")
    return Linked(int(base), dict(zip(names, map(int, addresses), strict=True)), bytes.fromhex(memory))


def test_branches(linked: Linked) -> None:
    f, near = linked.symbols["f"], linked.symbols["near"]
    assert near == f + 60
    assert linked.branch(f, 0, 26) == near
    assert linked.branch(f + 48, 5, 19) == near
    assert linked.branch(f + 52, 5, 14) == near
    assert linked.branch(f + 56, 0, 26) == near


def test_a_call_to_the_outside_goes_through_a_stub(linked: Linked) -> None:
    stub = linked.branch(linked.symbols["f"] + 4, 0, 26)
    slot = linked.page(stub) + linked.low(stub + 4, 8)
    assert linked.number(slot, 8) == OUTSIDE
    registers = [linked.number(stub) & 31, linked.number(stub + 4) & 1023, linked.number(stub + 8)]
    assert registers == [16, 16 << 5 | 16, 0xD61F0200], "adrp x16; ldr x16, [x16]; br x16"


def test_addresses(linked: Linked) -> None:
    f, near, table = (linked.symbols[name] for name in ("f", "near", "table"))
    slot = linked.page(f + 8) + linked.low(f + 12, 8)
    assert linked.number(slot, 8) == OUTSIDE
    page = linked.page(f + 16)
    assert page + linked.low(f + 20, 1) == table
    for position, (scale, offset) in enumerate(((1, 1), (2, 2), (4, 4), (8, 8), (16, 16))):
        assert page + linked.low(f + 24 + 4 * position, scale) == table + offset
    assert f + 44 + linked.adr(f + 44) == near


def test_data(linked: Linked) -> None:
    near, pointers = linked.symbols["near"], linked.symbols["pointers"]
    assert linked.number(pointers, 8) == near + 4
    assert pointers + 8 + _signed(linked.number(pointers + 8, 8), 64) == near
    assert pointers + 16 + _signed(linked.number(pointers + 16), 32) == near
    assert linked.number(linked.symbols["data"], 8) == OUTSIDE


@pytest.mark.parametrize(
    ("assembly", "message"),
    [
        ("f: b.eq outside", "refers to 'outside' in a way that does not reach it (relocation type 280)"),
        ("f: bl nowhere", "symbol 'nowhere' is defined neither in the objects nor in this process"),
        ("f: ldr x0, outside", "a relocation of type 273, which this loader does not know"),
        ("f: adrp x0, t\nldr q0, [x0, :lo12:t]\n.data\n.word 0\nt: .word 0", "refers to '' in a way that does not"),
    ],
)
def test_errors(program: Path, tmp_path: Path, assembly: str, message: str) -> None:
    assert message in _run(program, tmp_path, assembly)
