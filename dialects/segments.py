"""Optional and variadic operands: `operandSegmentSizes` says which slots are taken, 0 or 1 for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir import ir

from aiopt.dialects.slots import Slot
from aiopt.support.errors import IRError

KEY = "operandSegmentSizes"


def is_segmented(slots: Sequence[Slot]) -> bool:
    """True if an op with these operands has the attribute."""
    return any(slot.kind != "single" for slot in slots)


def read_sizes(op: ir.Operation) -> list[int]:
    """The attribute of an op that has it."""
    return list(ir.DenseI32ArrayAttr(op.attributes[KEY]))


def group(slots: Sequence[Slot], sizes: Sequence[int], values: Sequence[ir.Value]) -> list[Any]:
    """The values by slot: one, None for an absent optional, a list for a variadic."""
    groups: list[Any] = []
    at = index = 0
    for slot in slots:
        count = sum(sizes[index : index + slot.width])
        index += slot.width
        found = list(values[at : at + count])
        at += count
        groups.append(found if slot.kind == "variadic" else found[0] if found else None)
    return groups


def flatten(name: str, slots: Sequence[Slot], operands: Sequence[Any]) -> tuple[list[ir.Value], list[int]]:
    """The values of operands given by slot, and the sizes. Raises IRError that names the op and the slot."""
    flat: list[ir.Value] = []
    sizes: list[int] = []
    for slot, operand in zip(slots, operands, strict=True):
        values = list(operand) if slot.kind == "variadic" else [] if operand is None else [operand]
        if len(values) > slot.width or (slot.kind == "single" and not values):
            raise IRError(f"{name}: operand '{slot.name}' takes 1 to {slot.width} values")
        flat += values
        sizes += [1] * len(values) + [0] * (slot.width - len(values))
    return flat, sizes


def check_sizes(name: str, slots: Sequence[Slot], op: ir.Operation) -> None:
    """The attribute is there and fits slots and operands. Raises IRError."""
    if KEY not in op.attributes:
        raise IRError(f"{name}: the attribute {KEY} is missing")
    if not isinstance(op.attributes[KEY], ir.DenseI32ArrayAttr):
        raise IRError(f"{name}: the attribute {KEY} must be an array<i32: ...>")
    sizes, width, count = read_sizes(op), sum(slot.width for slot in slots), len(op.operands)
    if len(sizes) != width or sum(sizes) != count or not all(size in (0, 1) for size in sizes):
        raise IRError(
            f"{name}: {KEY} must be {width} numbers, each 0 or 1, that add up to the {count} operands, but is {sizes}"
        )
    index = 0
    for slot in slots:
        if slot.kind == "single" and sizes[index] == 0:
            raise IRError(f"{name}: operand '{slot.name}' must be there, but {KEY} is {sizes}")
        index += slot.width
