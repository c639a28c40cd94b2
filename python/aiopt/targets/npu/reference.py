"""The table of instructions in docs/npu.md: `python -m aiopt.targets.npu.reference` prints it."""

from __future__ import annotations

import inspect

from aiopt.targets.npu.encoding import Instruction, numbers_of, offsets
from aiopt.targets.npu.isa import INSTRUCTIONS


def describe(cls: type[Instruction]) -> str:
    """An instruction in Markdown: what it does, and its fields."""
    queue = "front end" if cls.queue is None else f"queue {cls.queue.name.lower()}"
    lines = [f"### {cls.mnemonic} (0x{cls.opcode:02x}, {queue})", "", inspect.cleandoc(cls.__doc__ or "")]
    places = offsets(cls)
    if places:
        lines += ["", "| byte | field | type | meaning |", "|---|---|---|---|"]
    for item in numbers_of(cls):
        kind, enum = item.metadata["kind"], item.metadata["enum"]
        if enum:
            kind = ", ".join(f"{member.name.lower()} = {member.value}" for member in enum)
        lines.append(f"| {places[item.name][0]} | {item.name} | {kind} | {item.metadata['text']} |")
    return "\n".join(lines) + "\n"


def table() -> str:
    """All instructions in Markdown."""
    return "\n".join(describe(cls) for cls in INSTRUCTIONS)


if __name__ == "__main__":
    print(table(), end="")
