"""Instructions as bytes and as text, and files of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from aiopt.support.errors import ModelError
from aiopt.targets.npu import isa, npub
from aiopt.targets.npu.asm import parse_program, print_instruction, print_program
from aiopt.targets.npu.encoding import SIZE, Instruction, Queue, Token, numbers_of
from aiopt.targets.npu.program import Program
from aiopt.targets.npu.reference import table
from unit.targets.npu.programs import SMALL, program

_LIMITS = {
    "u8": (0, 255),
    "u16": (0, 65535),
    "u32": (0, 2**32 - 1),
    "u64": (0, 2**64 - 1),
    "i32": (-(2**31), 2**31 - 1),
}


def _value(item: dataclasses.Field) -> st.SearchStrategy:
    if item.metadata["enum"]:
        return st.sampled_from(list(item.metadata["enum"]))
    kind = item.metadata["kind"]
    if kind in _LIMITS:
        return st.integers(*_LIMITS[kind])
    return st.booleans() if kind == "flag" else st.floats(width=32, allow_nan=False)


_TOKENS = st.lists(st.builds(Token, st.integers(0, 31), st.integers(1, 255)), max_size=3).map(tuple)


@st.composite
def _instructions(draw: st.DrawFn) -> Instruction:
    cls = draw(st.sampled_from(isa.INSTRUCTIONS))
    fields = {item.name: draw(_value(item)) for item in numbers_of(cls)}
    instruction = cls(**fields)
    if instruction.runs_on() is None:
        return instruction
    return cls(waits=draw(_TOKENS), signals=draw(_TOKENS), **fields)


@settings(max_examples=200, deadline=None)
@given(_instructions())
def test_an_instruction_goes_through_bytes_and_text(instruction: Instruction) -> None:
    data = instruction.encode()
    assert len(data) == SIZE
    assert isa.decode(data) == [instruction]
    text = f".machine edge16\n.dram 0\n{print_instruction(instruction)}\n"
    assert parse_program(text, "x.s").instructions[0].encode() == data


@settings(max_examples=300, deadline=None)
@given(st.binary(min_size=SIZE, max_size=SIZE), st.sampled_from(isa.INSTRUCTIONS))
def test_bytes_are_rejected_or_come_back(data: bytes, cls: type[Instruction]) -> None:
    data = bytes([cls.opcode]) + data[1:]
    try:
        (found,) = isa.decode(data)
    except ModelError:
        return
    if found == found:  # NaN has many encodings
        assert found.encode() == data


@pytest.mark.parametrize("cls", isa.INSTRUCTIONS)
def test_reserved_bits_are_rejected(cls: type[Instruction]) -> None:
    data = cls().encode()
    used = 16 + sum(
        {"u16": 2, "u64": 8}.get(i.metadata["kind"], 4 if "32" in i.metadata["kind"] else 1) for i in numbers_of(cls)
    )
    for at in [13, 14, 15, *range(used, SIZE)]:
        broken = bytearray(data)
        broken[at] = 0x80
        with pytest.raises(ModelError, match="a reserved byte is not zero"):
            isa.decode(bytes(broken))


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (0, 0x00, "instruction 0: there is no opcode 0x00"),
        (0, 0x7F, "there is no opcode 0x7f"),
        (40, 9, "matmul: element has the reserved value 9"),
        (41, 2, "matmul: accumulate has the reserved value 2"),
        (1, 40, "wait bytes .* are not valid"),
        (2, 1, "wait bytes .* are not valid"),
        (7, 1, "signal bytes .* are not valid"),
    ],
)
def test_bad_bytes_are_rejected(at: int, value: int, message: str) -> None:
    data = bytearray(isa.MatMul().encode())
    data[at] = value
    with pytest.raises(ModelError, match=message):
        isa.decode(bytes(data))


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (isa.MatMul(rows=2**32), "rows must be from 0 to 4294967295"),
        (isa.Requant(scale=1e300), "beyond the range of f32"),
        (isa.Nop(on=Queue.LOAD, waits=(Token(32),)), "semaphores are s0 to s31"),
        (isa.Nop(on=Queue.LOAD, waits=(Token(1, 256),)), "counts 1 to 255"),
        (isa.Nop(on=Queue.LOAD, signals=tuple(map(Token, range(4)))), "at most 3 signals, but there are 4"),
        (isa.Halt(waits=(Token(1),)), "can neither wait nor signal"),
    ],
)
def test_what_does_not_fit_is_an_error(instruction: Instruction, message: str) -> None:
    with pytest.raises(ModelError, match=f"instruction 1: {instruction.mnemonic}.*{message}"):
        isa.encode([isa.Fence(), instruction])


def _small() -> Program:
    return parse_program(SMALL + ".data 0xa00 00ff\n.data 0xb00 " + "12" * 40, "small.s")


def test_a_file_goes_through_text() -> None:
    data = npub.write(_small())
    assert npub.read(data, "small") == _small()
    text = print_program(npub.read(data, "small"))
    assert npub.write(parse_program(text, "again.s")) == data
    assert print_program(parse_program(text, "again.s")) == text


def test_a_machine_that_is_no_preset_is_named_by_its_hash() -> None:
    strange = dataclasses.replace(_small(), machine="mine", machine_hash=bytes(range(32)))
    text = print_program(strange)
    assert text.startswith(".machine mine 000102")
    assert parse_program(text, "x.s") == strange


def _survives(data: bytes) -> Program | None:
    try:
        return npub.read(data, "x.npub")
    except ModelError:
        return None


def test_a_file_that_was_changed_is_rejected_or_means_something_else() -> None:
    good = npub.write(_small())
    for at in range(64 + 3 * 24 + 128):
        broken = bytearray(good)
        broken[at] ^= 0x40
        assert _survives(bytes(broken)) != _small(), at
    assert not any(_survives(good[:size]) for size in range(0, len(good), 7))
    with pytest.raises(ModelError, match="has 1 bytes too many"):
        npub.read(good + b"\0", "x.npub")


def test_another_version_is_rejected() -> None:
    data = bytearray(npub.write(_small()))
    data[4] = 2
    with pytest.raises(ModelError, match="has version 2 of the format; this aiopt reads version 1"):
        npub.read(bytes(data), "x.npub")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("matmull rows=3", "there is no instruction 'matmull', did you mean 'matmul'?"),
        ("matmul row=3", "matmul has no field 'row', did you mean 'rows'?"),
        ("matmul rows=3 rows=4", "matmul: 'rows' is given twice"),
        ("matmul rows=three", "matmul: rows must be a whole number, not 'three'"),
        ("matmul rows", "matmul: rows needs a value"),
        ("matmul swap=1", "matmul: swap is a flag and takes no value"),
        ("matmul rows=-1", "rows must be from 0 to"),
        ("matmul waits=0", "matmul: waits takes semaphores as in s0,s1:2, not '0'"),
        ("matmul element=i9", "must be one of i8, u8, i32, f32, not 'i9'"),
        ("requant scale=x", "requant: scale must be a number, not 'x'"),
        (".dram", ".dram has 0 arguments"),
        (".drum 3", "there is no directive '.drum', did you mean '.dram'?"),
        (".data 0x0 123", "pairs of hexadecimal digits"),
        (".data 0x3fe 00ff00", ".data at 0x3fe ends beyond 1024 bytes of dram"),
        (".input x 0x0 3x4", "'3x4' is no type"),
        (".input x 0x2 3xf32", "0x2 is not aligned for f32"),
        (".input x 0x3fc 3xf32", "'x' ends at 1032, beyond 1024 bytes of dram"),
        (".machine edge17", "there is no machine 'edge17'"),
    ],
)
def test_a_bad_line_is_an_error(line: str, message: str) -> None:
    with pytest.raises(ModelError) as raised:
        parse_program(f".machine edge16\n.dram 1024\n{line}\nhalt\n", "bad.s")
    assert message in str(raised.value)
    assert str(raised.value).startswith("bad.s")


@pytest.mark.parametrize(("text", "message"), [(".dram 3", "no .machine"), (".machine edge16", "no .dram")])
def test_directives_that_must_be_there(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        parse_program(text, "x.s")


def test_comments_and_spaces_do_not_count() -> None:
    assert program("# all\n\n   halt   # at last").instructions == [isa.Halt()]


def test_the_reference_is_up_to_date() -> None:
    text = (Path(__file__).parents[4] / "docs" / "npu.md").read_text()
    assert text.partition("reference -->\n")[2] == table(), "run: python -m aiopt.targets.npu.reference"
