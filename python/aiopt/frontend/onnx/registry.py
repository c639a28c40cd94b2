"""Handlers by operator and opset; those under `ops/` are discovered, two for one opset are an error."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.values import Value

OLDEST_OPSET = 7  # that handlers read: numpy broadcasting came with it; nodes of older ones are renewed
NEWEST_OPSET = 28  # of onnx 1.23, against which the handlers were read
MICROSOFT = "com.microsoft"  # the domain of ONNX Runtime's own operators; it has one opset

Handler = Callable[[Node], Value | Sequence[Value | None]]
H = TypeVar("H", bound=Handler)

_PACKAGE = "aiopt.frontend.onnx.ops"
_handlers: dict[tuple[str, str], list[tuple[range, Handler]]] = {}  # by domain and operator


def onnx_op(
    op_type: str, *, since: int = OLDEST_OPSET, until: int = NEWEST_OPSET, domain: str = ""
) -> Callable[[H], H]:
    """Register a handler of an operator for model opsets `since` to `until` of its domain, both included.

    The default domain is that of ONNX's own operators; other domains have opsets of their own.

    The handler returns the node's outputs in order; it may leave out trailing ones that a model rarely uses,
    and give None for others.
    """

    def register(handler: H) -> H:
        covered = range(since, until + 1)
        known = _handlers.setdefault((domain, op_type), [])
        for other, _ in known:
            if set(other) & set(covered):
                raise TypeError(f"two handlers cover {op_type}: opsets {other} and {covered}")
        known.append((covered, handler))
        return handler

    return register


def microsoft_op(op_type: str) -> Callable[[H], H]:
    """Register a handler of one of ONNX Runtime's own operators."""
    return onnx_op(op_type, since=1, until=1, domain=MICROSOFT)


def find(op_type: str, opset: int, domain: str = "") -> Handler | None:
    """The handler for an operator in a model of this opset of its domain, or None."""
    _discover()
    return next((handler for covered, handler in _handlers.get((domain, op_type), []) if opset in covered), None)


def covered_opsets(op_type: str, domain: str = "") -> list[int]:
    """The opsets of the domain in which an operator is understood, rising; empty for an unknown operator."""
    _discover()
    return sorted(opset for covered, _ in _handlers.get((domain, op_type), []) for opset in covered)


def op_types(domain: str = "") -> list[str]:
    """All operators of a domain that are understood, sorted."""
    _discover()
    return sorted(op_type for owner, op_type in _handlers if owner == domain)


def domains() -> list[str]:
    """The domains of which at least one operator is understood, sorted."""
    _discover()
    return sorted({domain for domain, _ in _handlers})


@cache
def _discover() -> None:
    package = importlib.import_module(_PACKAGE)
    for info in pkgutil.iter_modules(package.__path__, _PACKAGE + "."):
        importlib.import_module(info.name)
