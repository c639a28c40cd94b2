"""The attributes of a node, by name and type; what no handler asks for is an error, not silence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from onnx import AttributeProto

from aiopt.frontend.onnx.tensors import to_array
from aiopt.support.errors import NodeAttributeError

T = TypeVar("T")
_KIND = AttributeProto.AttributeType


class Attributes:
    """Each getter returns the attribute or its default. Errors: ModelError if it has another type."""

    def __init__(self, protos: Iterable[AttributeProto]) -> None:
        self._protos: dict[str, AttributeProto] = {}
        self._unread: set[str] = set()
        for proto in protos:
            if proto.name in self._protos:
                raise NodeAttributeError(f"attribute '{proto.name}' is given twice")
            self._protos[proto.name] = proto
            self._unread.add(proto.name)

    def __contains__(self, name: str) -> bool:
        return name in self._protos

    def get_int(self, name: str, default: T) -> int | T:
        proto = self._take(name, AttributeProto.INT)
        return default if proto is None else int(proto.i)

    def get_bool(self, name: str, default: bool) -> bool:
        value = self.get_int(name, int(default))
        if value not in (0, 1):
            raise NodeAttributeError(f"attribute '{name}' must be 0 or 1, but is {value}")
        return bool(value)

    def get_float(self, name: str, default: T) -> float | T:
        proto = self._take(name, AttributeProto.FLOAT)
        return default if proto is None else float(proto.f)

    def get_string(self, name: str, default: str) -> str:
        proto = self._take(name, AttributeProto.STRING)
        return default if proto is None else proto.s.decode("utf-8", "replace")

    def get_strings(self, name: str) -> list[str] | None:
        proto = self._take(name, AttributeProto.STRINGS)
        return None if proto is None else [value.decode("utf-8", "replace") for value in proto.strings]

    def get_ints(self, name: str, default: T) -> list[int] | T:
        proto = self._take(name, AttributeProto.INTS)
        return default if proto is None else [int(value) for value in proto.ints]

    def get_floats(self, name: str) -> list[float] | None:
        proto = self._take(name, AttributeProto.FLOATS)
        return None if proto is None else list(proto.floats)

    def get_tensor(self, name: str) -> np.ndarray | None:
        proto = self._take(name, AttributeProto.TENSOR)
        return None if proto is None else to_array(proto.t, f"attribute '{name}'")

    def require(self, name: str, value: T | None) -> T:
        """`value`, or ModelError if the attribute it came from was absent."""
        if value is None:
            raise NodeAttributeError(f"the attribute '{name}' is missing")
        return value

    def skip(self, *names: str) -> None:
        """Attributes that do not change what inference computes."""
        self._unread -= set(names)

    def unread(self) -> list[str]:
        """Names no getter was asked for."""
        return sorted(self._unread)

    def _take(self, name: str, kind: Any) -> AttributeProto | None:
        proto = self._protos.get(name)
        if proto is None:
            return None
        self._unread.discard(name)
        if proto.type != kind:
            raise NodeAttributeError(
                f"attribute '{name}' must be of type {_KIND.Name(kind)}, but is {_KIND.Name(proto.type)}"
            )
        return proto
