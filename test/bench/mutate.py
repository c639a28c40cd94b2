"""Broken models from whole ones: changes of their bytes, and of the fields of their messages."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import onnx
from google.protobuf.message import DecodeError

_INTEGERS = (-(1 << 63), -(1 << 31), -2, -1, 0, 1, 2, 3, 7, 16, 255, 1 << 20, (1 << 31) - 1, 1 << 40, (1 << 63) - 1)
_FLOATS = (0.0, -1.0, 1e-30, 1e30, float("inf"), float("nan"))
_STRINGS = ("", "x", "y", "SAME_UPPER", "linear", "\0", "../x", "\N{SNOWMAN}" * 3)
_MOST_CHANGES = 3
Message = Any  # google.protobuf.message.Message, whose fields are not typed
Field = tuple[Message, Any]  # a message, and the descriptor of one of its fields


def mutate(model: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """A model with one to three changes; about a third of them are of its bytes."""
    if chance.random() < 0.35:
        return _change_bytes(model, others, chance)
    proto = onnx.ModelProto.FromString(model)
    for _ in range(chance.randint(1, _MOST_CHANGES)):
        fields = list(_fields(proto))
        message, field = chance.choice(fields)
        _change_field(message, field, fields, chance)
    return proto.SerializeToString()


def _change_bytes(model: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    data = bytearray(model)
    for _ in range(chance.randint(1, _MOST_CHANGES)):
        at = chance.randrange(len(data) + 1)
        size = chance.choice((1, 1, 2, 4, 16, 64))
        match chance.randrange(6):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del data[at : at + size]
            case 2:
                data[at:at] = chance.randbytes(size)
            case 3:
                data[at:at] = data[at : at + size]
            case 4:
                del data[at:]
            case _:
                other = chance.choice(others)
                cut = chance.randrange(len(other) + 1)
                data[at : at + size] = other[cut : cut + size]
    return bytes(data)


def _fields(message: Message) -> Iterator[Field]:
    """All fields that are set, of the message and of those in it."""
    for field, value in message.ListFields():
        yield message, field
        if field.type == field.TYPE_MESSAGE:
            for inner in value if _is_repeated(field) else [value]:
                yield from _fields(inner)


def _is_repeated(field: Any) -> bool:
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def _change_field(message: Message, field: Any, fields: Sequence[Field], chance: random.Random) -> None:
    if chance.random() < 0.1:
        message.ClearField(field.name)
    elif _is_repeated(field):
        _change_list(getattr(message, field.name), field, fields, chance)
    elif field.type == field.TYPE_MESSAGE:
        if alike := [getattr(m, f.name) for m, f in fields if f.message_type is field.message_type]:
            _assign(getattr(message, field.name), chance.choice(alike), chance)
    else:
        setattr(message, field.name, _scalar(field, getattr(message, field.name), fields, chance))


def _change_list(values: Any, field: Any, fields: Sequence[Field], chance: random.Random) -> None:
    if not values:
        return
    at = chance.randrange(len(values))
    kind = chance.randrange(4)
    if kind == 0:
        del values[at]
    elif field.type != field.TYPE_MESSAGE:
        changed = [*values]
        if kind == 1:
            changed[at:at] = [changed[chance.randrange(len(changed))]]
        else:
            changed[at] = _scalar(field, changed[at], fields, chance)
        values[:] = changed
    elif kind == 1:
        values.add().CopyFrom(values[at])
    else:
        other = type(values[at])()
        other.CopyFrom(values[chance.randrange(len(values))])
        values[at].CopyFrom(other)


def _assign(message: Message, other: Message, chance: random.Random) -> None:
    """Put another message of its kind in its place; of a list of messages, one of them."""
    if not hasattr(other, "SerializeToString"):
        if not other:
            return
        other = chance.choice(list(other))
    data = other.SerializeToString()
    try:
        message.ParseFromString(data)
    except DecodeError:  # messages nested too deep: it stays as it was cut off
        return


def _scalar(field: Any, value: Any, fields: Sequence[Field], chance: random.Random) -> Any:
    makers: dict[int, Callable[[], Any]] = {
        field.TYPE_STRING: lambda: _string(fields, chance),
        field.TYPE_BYTES: lambda: chance.choice((b"", value[: len(value) // 2], value + value, chance.randbytes(8))),
        field.TYPE_FLOAT: lambda: chance.choice(_FLOATS),
        field.TYPE_DOUBLE: lambda: chance.choice(_FLOATS),
        field.TYPE_ENUM: lambda: chance.choice([number.number for number in field.enum_type.values]),
        field.TYPE_INT32: lambda: chance.choice([n for n in _INTEGERS if -(1 << 31) <= n < 1 << 31]),
        field.TYPE_UINT64: lambda: chance.choice([n for n in _INTEGERS if n >= 0]),
        field.TYPE_INT64: lambda: chance.choice((*_INTEGERS, value + 1, value - 1)),
    }
    made = makers[field.type]()
    return max(min(made, (1 << 63) - 1), -(1 << 63)) if isinstance(made, int) else made


def _string(fields: Sequence[Field], chance: random.Random) -> str:
    """Mostly another string of the model: names, operators, domains take each other's places."""
    if chance.random() < 0.2:
        return chance.choice(_STRINGS)
    message, field = chance.choice([f for f in fields if f[1].type == f[1].TYPE_STRING])
    value = getattr(message, field.name)
    return value if isinstance(value, str) else chance.choice([*value])
