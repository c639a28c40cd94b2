"""The text of a program, and back.

    .machine edge16
    .dram 4096
    .input x 0x0 16x16xi8
    .output y 0x400 16x16xi8
    .data 0x800 00ff12
    sem_init semaphore=0 signaller=load waiter=matrix
    dma_ld dram=0x800 rows=1 row_bytes=3 signals=s0     # what is not said is 0
    loadw rows=1 columns=3 waits=s0
    matmul rows=4 inner=1 columns=3 swap
    halt

A line is a directive, an instruction or empty; `#` begins a comment. A machine that is no preset is named by its file
(`.machine my.toml`) or by its name and hash.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import AioptError, ModelError
from aiopt.support.types import TensorType, numpy_dtype
from aiopt.targets.npu import npub
from aiopt.targets.npu.encoding import Instruction, Token, numbers_of
from aiopt.targets.npu.isa import BY_MNEMONIC
from aiopt.targets.npu.machine import find_by_hash, find_machine
from aiopt.targets.npu.program import Program, Tensor

_DATA_BYTES = 32  # of a line of .data
_DIRECTIVES = (".machine", ".dram", ".input", ".output", ".data")


def print_program(program: Program) -> str:
    """The text of a program."""
    preset = find_by_hash(program.machine_hash)
    named = preset is not None and preset.name == program.machine
    lines = [f".machine {program.machine}" + ("" if named else f" {program.machine_hash.hex()}")]
    lines.append(f".dram {program.dram_bytes}")
    for directive, tensors in ((".input", program.inputs), (".output", program.outputs)):
        lines += [f"{directive} {tensor.name} 0x{tensor.address:x} {tensor.type}" for tensor in tensors]
    for address, data in sorted(program.data.items()):
        for at in range(0, len(data), _DATA_BYTES):
            lines.append(f".data 0x{address + at:x} {data[at : at + _DATA_BYTES].hex()}")
    lines += [print_instruction(instruction) for instruction in program.instructions]
    return "\n".join(lines) + "\n"


def print_instruction(instruction: Instruction) -> str:
    """One line: the fields that are not 0, and the semaphores."""
    words = [instruction.mnemonic]
    for item in numbers_of(type(instruction)):
        value = getattr(instruction, item.name)
        if value is True:
            words.append(item.name)
        elif item.metadata["enum"] or value != item.default or str(value) == "-0.0":
            words.append(f"{item.name}={_print_value(item, value)}")
    for what, tokens in (("waits", instruction.waits), ("signals", instruction.signals)):
        if tokens:
            words.append(f"{what}={','.join(map(str, tokens))}")
    return " ".join(words)


def _print_value(item: dataclasses.Field[Any], value: Any) -> str:
    if item.metadata["enum"]:
        return value.name.lower()
    if item.metadata["kind"] == "f32":
        return str(np.float32(value))
    return f"0x{value:x}" if item.metadata["text"].startswith("address") else str(value)


def parse_program(text: str, origin: str) -> Program:
    """The program a text describes; `origin` names the text in errors. Raises ModelError with file and line."""
    parser = _Parser()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        try:
            if words:
                parser.take(words)
        except AioptError as error:
            raise ModelError(f"{origin}:{number}: {error}") from error
    try:
        return parser.finish()
    except AioptError as error:
        raise ModelError(f"{origin}: {error}") from error


class _Parser:
    """What was read so far."""

    def __init__(self) -> None:
        self._machine: tuple[str, bytes] | None = None
        self._dram: int | None = None
        self._tensors: dict[str, list[Tensor]] = {".input": [], ".output": []}
        self._data: dict[int, bytes] = {}
        self._instructions: list[Instruction] = []

    def take(self, words: list[str]) -> None:
        """Read one line."""
        if not words[0].startswith("."):
            instruction = parse_instruction(words)
            instruction.encode()  # says what does not fit
            self._instructions.append(instruction)
        elif words[0] == ".machine" and len(words) in (2, 3):
            self._machine = _parse_machine(*words[1:])
        elif words[0] == ".dram" and len(words) == 2:
            self._dram = _parse_integer("the size of dram", words[1])
        elif words[0] in self._tensors and len(words) == 4:
            address = _parse_integer("an address", words[2])
            self._tensors[words[0]].append(Tensor(words[1], address, _parse_type(words[3])))
        elif words[0] == ".data" and len(words) == 3:
            self._take_data(_parse_integer("an address", words[1]), words[2])
        elif words[0] in _DIRECTIVES:
            raise ModelError(f"{words[0]} has {len(words) - 1} arguments, which is not what it takes")
        else:
            raise ModelError(f"there is no directive '{words[0]}'{did_you_mean(words[0], _DIRECTIVES)}")

    def _take_data(self, address: int, text: str) -> None:
        """Add bytes; those that go on where the ones before end join them."""
        if len(text) % 2 or not re.fullmatch("[0-9a-fA-F]+", text):
            raise ModelError(f".data takes pairs of hexadecimal digits, not '{text}'")
        start, before = next(reversed(self._data.items()), (0, b""))
        if before and address < start + len(before):
            raise ModelError(f".data at 0x{address:x} overlaps what is before it; addresses must go up")
        if before and address == start + len(before):
            self._data[start] = before + bytes.fromhex(text)
        else:
            self._data[address] = bytes.fromhex(text)

    def finish(self) -> Program:
        """The program."""
        if self._machine is None:
            raise ModelError("there is no .machine")
        if self._dram is None or self._dram > npub.MAX_DRAM:
            raise ModelError(f"there is no .dram, or it is above {npub.MAX_DRAM} bytes")
        for address, data in self._data.items():
            if address + len(data) > self._dram:
                raise ModelError(f".data at 0x{address:x} ends beyond {self._dram} bytes of dram")
        inputs, outputs = ([npub.checked_tensor(t, self._dram) for t in found] for found in self._tensors.values())
        return Program(*self._machine, self._dram, self._instructions, inputs, outputs, self._data)


def parse_instruction(words: list[str]) -> Instruction:
    """An instruction from the words of a line. Raises ModelError."""
    mnemonic = words[0]
    if mnemonic not in BY_MNEMONIC:
        raise ModelError(f"there is no instruction '{mnemonic}'{did_you_mean(mnemonic, BY_MNEMONIC)}")
    cls = BY_MNEMONIC[mnemonic]
    fields = {item.name: item for item in numbers_of(cls)}
    given: dict[str, Any] = {}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if key in given:
            raise ModelError(f"{mnemonic}: '{key}' is given twice")
        if key in ("waits", "signals"):
            given[key] = tuple(_parse_tokens(mnemonic, key, value))
        elif key not in fields:
            raise ModelError(f"{mnemonic} has no field '{key}'{did_you_mean(key, [*fields, 'waits', 'signals'])}")
        elif (fields[key].metadata["kind"] == "flag") == bool(equals):
            raise ModelError(f"{mnemonic}: {key} {'is a flag and takes no' if equals else 'needs a'} value")
        else:
            given[key] = _parse_value(f"{mnemonic}: {key}", fields[key], value) if equals else True
    return cls(**given)


def _parse_value(what: str, item: dataclasses.Field[Any], text: str) -> Any:
    if enum := item.metadata["enum"]:
        names = {member.name.lower(): member for member in enum}
        if text not in names:
            raise ModelError(f"{what} must be one of {', '.join(names)}, not '{text}'{did_you_mean(text, names)}")
        return names[text]
    if item.metadata["kind"] != "f32":
        return _parse_integer(what, text)
    try:
        with np.errstate(over="ignore"):
            return float(np.float32(text))
    except ValueError:
        raise ModelError(f"{what} must be a number, not '{text}'") from None


def _parse_tokens(mnemonic: str, key: str, text: str) -> Iterator[Token]:
    for part in text.split(","):
        found = re.fullmatch(r"s([0-9]+)(?::([0-9]+))?", part)
        if not found:
            raise ModelError(f"{mnemonic}: {key} takes semaphores as in s0,s1:2, not '{text}'")
        yield Token(int(found[1]), int(found[2] or 1))


def _parse_integer(what: str, text: str) -> int:
    if not re.fullmatch("-?(0x[0-9a-fA-F]+|[0-9]+)", text):
        raise ModelError(f"{what} must be a whole number, not '{text}'")
    return int(text, 16 if "x" in text else 10)


def _parse_type(text: str) -> TensorType:
    *sizes, element = text.split("x")
    try:
        numpy_dtype(element)
    except KeyError:
        raise ModelError(f"'{text}' is no type; types are written as in 16x16xi8") from None
    if not all(size.isdecimal() for size in sizes):
        raise ModelError(f"'{text}' is no type; types are written as in 16x16xi8")
    return TensorType(tuple(map(int, sizes)), element)


def _parse_machine(name: str, digest: str | None = None) -> tuple[str, bytes]:
    if digest is None:
        machine = find_machine(name)
        return machine.name, machine.hash()
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise ModelError("the hash of a machine has 64 hexadecimal digits")
    return name, bytes.fromhex(digest)
