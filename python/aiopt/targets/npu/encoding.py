"""Instructions as bytes: what a dataclass of numbered fields becomes in 64 bytes, and back.

Bytes 0 to 15 are the same in all: the opcode, up to three semaphores to wait for, up to three to signal, zeros. The
fields follow from byte 16 on in the order of the class, without gaps; all else is reserved and zero.
"""

from __future__ import annotations

import dataclasses
import struct
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any, ClassVar, Self

from aiopt.support.errors import ModelError

SIZE = 64
HEADER = 16
MAX_TOKENS = 3  # semaphores an instruction may wait for, and signal
SEMAPHORES = 32
_FORMATS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i", "f32": "f"}
_RANGES = {
    "u8": (0, 255),
    "u16": (0, 65535),
    "u32": (0, 2**32 - 1),
    "u64": (0, 2**64 - 1),
    "i32": (-(2**31), 2**31 - 1),
}


class Queue(IntEnum):
    """The four queues. Each takes its instructions in order; nothing but semaphores and fences orders two queues."""

    LOAD = 0
    MATRIX = 1
    VECTOR = 2
    STORE = 3


@dataclass(frozen=True)
class Token:
    """A semaphore and how much of it an instruction takes before it starts, or gives once it is done."""

    semaphore: int
    count: int = 1

    def __str__(self) -> str:
        return f"s{self.semaphore}" + (f":{self.count}" if self.count != 1 else "")


Tokens = tuple[Token, ...]


def number(kind: str, text: str, enum: type[IntEnum] | None = None) -> Any:
    """Declare a field: how it is stored (`u8` to `u64`, `i32`, `f32`; `flag`: a u8 of 0 or 1), and what it means."""
    default = enum(0) if enum else {"flag": False, "f32": 0.0}.get(kind, 0)
    return dataclasses.field(default=default, metadata={"kind": kind, "text": text, "enum": enum})


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """Base of all instructions. `queue` is None for those the front end executes by itself."""

    mnemonic: ClassVar[str]
    opcode: ClassVar[int]
    queue: ClassVar[Queue | None]

    waits: Tokens = ()
    signals: Tokens = ()

    def runs_on(self) -> Queue | None:
        """The queue this instruction goes to."""
        return self.queue

    def encode(self) -> bytes:
        """The 64 bytes. Raises ModelError if a value does not fit its field."""
        values = []
        for item in numbers_of(type(self)):
            value = getattr(self, item.name)
            low, high = _RANGES.get(item.metadata["kind"], (None, None))
            if low is not None and not low <= value <= high:
                raise ModelError(f"{self.mnemonic}: {item.name} must be from {low} to {high}, but is {value}")
            values.append(value)
        try:
            body = _layout(type(self)).pack(*values)
        except OverflowError:
            raise ModelError(f"{self.mnemonic}: a number is beyond the range of f32") from None
        head = bytes([self.opcode]) + self._tokens("wait", self.waits) + self._tokens("signal", self.signals)
        return (head.ljust(HEADER, b"\0") + body).ljust(SIZE, b"\0")

    def _tokens(self, what: str, tokens: Tokens) -> bytes:
        if tokens and self.runs_on() is None:
            raise ModelError(f"{self.mnemonic} goes to no queue, so it can neither wait nor signal")
        if len(tokens) > MAX_TOKENS:
            raise ModelError(f"{self.mnemonic}: at most {MAX_TOKENS} {what}s, but there are {len(tokens)}")
        for token in tokens:
            if not 0 <= token.semaphore < SEMAPHORES or not 1 <= token.count <= 255:
                raise ModelError(
                    f"{self.mnemonic}: {what} {token}: semaphores are s0 to s{SEMAPHORES - 1}, counts 1 to 255"
                )
        pairs = [byte for token in tokens for byte in (token.semaphore + 1, token.count)]
        return bytes(pairs).ljust(2 * MAX_TOKENS, b"\0")

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """The instruction of this class in 64 bytes. Raises ModelError on a reserved bit or value."""
        layout = _layout(cls)
        if any(data[1 + 4 * MAX_TOKENS : HEADER]) or any(data[HEADER + layout.size :]):
            raise ModelError(f"{cls.mnemonic}: a reserved byte is not zero")
        values: dict[str, Any] = {}
        for item, value in zip(numbers_of(cls), layout.unpack_from(data, HEADER), strict=True):
            values[item.name] = _checked(cls.mnemonic, item, value)
        waits = cls._decode_tokens("wait", data[1 : 1 + 2 * MAX_TOKENS])
        signals = cls._decode_tokens("signal", data[1 + 2 * MAX_TOKENS : 1 + 4 * MAX_TOKENS])
        instruction = cls(waits=waits, signals=signals, **values)
        if (waits or signals) and instruction.runs_on() is None:
            raise ModelError(f"{cls.mnemonic}: a reserved byte is not zero")
        return instruction

    @classmethod
    def _decode_tokens(cls, what: str, data: bytes) -> Tokens:
        pairs = list(zip(data[::2], data[1::2], strict=True))
        used = [pair for pair in pairs if pair != (0, 0)]
        if used != pairs[: len(used)] or any(not 1 <= s <= SEMAPHORES or count == 0 for s, count in used):
            raise ModelError(f"{cls.mnemonic}: the {what} bytes {data.hex(' ')} are not valid")
        return tuple(Token(semaphore - 1, count) for semaphore, count in used)


@cache
def numbers_of(cls: type[Instruction]) -> tuple[dataclasses.Field[Any], ...]:
    """The fields an instruction has beside its tokens, in the order of their bytes."""
    return tuple(item for item in dataclasses.fields(cls) if "kind" in item.metadata)


@cache
def _layout(cls: type[Instruction]) -> struct.Struct:
    layout = struct.Struct("<" + "".join(_format(item) for item in numbers_of(cls)))
    assert HEADER + layout.size <= SIZE, f"{cls.mnemonic} does not fit"
    return layout


def _format(item: dataclasses.Field[Any]) -> str:
    return _FORMATS.get(item.metadata["kind"], "B")


def offsets(cls: type[Instruction]) -> dict[str, tuple[int, int]]:
    """Where each field stands: (first byte, bytes)."""
    at, found = HEADER, {}
    for item in numbers_of(cls):
        size = struct.calcsize("<" + _format(item))
        found[item.name] = (at, size)
        at += size
    return found


def _checked(mnemonic: str, item: dataclasses.Field[Any], value: Any) -> Any:
    enum = item.metadata["enum"]
    allowed = [member.value for member in enum] if enum else [0, 1] if item.metadata["kind"] == "flag" else None
    if allowed is not None and value not in allowed:
        raise ModelError(f"{mnemonic}: {item.name} has the reserved value {value}")
    return enum(value) if enum else bool(value) if item.metadata["kind"] == "flag" else value
