"""Instructions and ops of the high tier in docs/npu.md: `python -m aiopt.targets.npu.reference` prints them."""

from __future__ import annotations

import inspect

from aiopt.dialects.npu import NpuDialect, TileOp
from aiopt.targets.npu.encoding import Instruction, numbers_of, offsets
from aiopt.targets.npu.isa import INSTRUCTIONS

_ITEMS = ("Shapes", "Types", "Errors", "Source")


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


def describe_op(cls: type[TileOp]) -> str:
    """An op of the high tier in Markdown: its docstring, of which each `Word:` begins an item of a list."""
    lines = [f"### {cls.OPERATION_NAME}", ""]
    listed = False
    for line in inspect.cleandoc(cls.__doc__ or "").splitlines():
        begins = line.partition(":")[0] in _ITEMS
        listed = listed or begins
        lines.append(f"- {line}" if begins else f"  {line}" if listed and line else line)
    return "\n".join(lines) + "\n"


def table() -> str:
    """All instructions and ops in Markdown."""
    ops = [op for op in NpuDialect.operations.values() if issubclass(op, TileOp)]
    parts = [*map(describe, INSTRUCTIONS), "## Ops of the high tier\n", *map(describe_op, ops)]
    return "\n".join(parts)


if __name__ == "__main__":
    print(table(), end="")
