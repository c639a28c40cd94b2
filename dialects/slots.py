"""Annotations of op classes: operands, results and attributes, and what each becomes in IRDL."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, Union, get_args, get_origin

from mlir import ir

from aiopt.dialects.constraints import Constraint
from aiopt.dialects.values import plain_type, spell
from aiopt.support.errors import IRError

MAX_VARIADIC = 8
T = TypeVar("T")

if TYPE_CHECKING:

    class Operand(ir.Value, Generic[T]): ...

    class Result(ir.OpResult, Generic[T]): ...

else:

    class Operand(Generic[T]):
        """Annotation of an operand; `Operand[T] | None` is optional, `Sequence[Operand[T]]` variadic."""

    class Result(Generic[T]):
        """Annotation of a result."""


IRDL_ATTRIBUTE: dict[type, str] = {
    ir.IntegerAttr: '"#builtin.integer"',
    ir.BoolAttr: '"#builtin.integer"',
    ir.FloatAttr: '"#builtin.float"',
    ir.StringAttr: '"#builtin.string"',
    ir.TypeAttr: '"#builtin.type"',
    ir.DenseI64ArrayAttr: '"#builtin.dense_array"',
    ir.DenseF64ArrayAttr: '"#builtin.dense_array"',
}


@dataclass(frozen=True)
class Slot:
    """One declared operand or result."""

    name: str
    constraint: type[Constraint]
    kind: str = "single"  # single, optional or variadic

    @property
    def width(self) -> int:
        """IRDL slots it takes."""
        return MAX_VARIADIC if self.kind == "variadic" else 1


@dataclass(frozen=True)
class Attribute:
    """One declared attribute; `ir.StringAttr | None` is optional, and IRDL does not know of it."""

    kind: type
    optional: bool = False


def read_slots(cls: type) -> tuple[tuple[Slot, ...], tuple[Slot, ...], dict[str, Attribute]]:
    """The operands, results and attributes that the annotations of a class declare."""
    operands: list[Slot] = []
    results: list[Slot] = []
    attributes: dict[str, Attribute] = {}
    for name, hint in inspect.get_annotations(cls, eval_str=True).items():
        if get_origin(hint) is ClassVar:
            continue
        slot, target = _read_slot(name, hint)
        if isinstance(slot, Attribute):
            attributes[name] = slot
        else:
            (operands if target is Operand else results).append(slot)
    return tuple(operands), tuple(results), attributes


def _read_slot(name: str, hint: Any) -> tuple[Slot | Attribute, Any]:
    """What an annotation declares, and Operand, Result or None for an attribute. Raises TypeError otherwise."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType) and args[0] in IRDL_ATTRIBUTE:
        return Attribute(args[0], optional=True), None
    if origin in (Operand, Result):
        return Slot(name, args[0]), origin
    if origin in (Union, UnionType):
        return Slot(name, get_args(args[0])[0], "optional"), Operand
    if origin is Sequence:
        return Slot(name, get_args(args[0])[0], "variadic"), Operand
    if hint not in IRDL_ATTRIBUTE:
        raise TypeError(f"{name}: {hint} is neither an operand, a result nor an attribute aiopt.dialects.ext knows")
    return Attribute(hint), None


def check_slot(op: str, what: str, slot: Slot, value: ir.Value) -> None:
    """Hold an operand or result against the constraint of its slot. Raises IRError naming op and slot."""
    kind = plain_type(value)
    if not slot.constraint.holds(kind):
        raise IRError(f"{op}: {what} '{slot.name}' must be {slot.constraint.text}, but is {spell(kind)}")
