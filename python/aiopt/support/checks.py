"""Checks of what callers pass in, which Python's annotations do not make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from aiopt.support.errors import OptionError


def whole_number(name: str, value: Any, least: int, most: int | None = None) -> int:
    """The value as an int. Raises OptionError if it is no whole number (a bool is none) from `least` to `most`."""
    bounds = f"at least {least}" if most is None else f"from {least} to {most}"
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise OptionError(f"{name} must be a whole number {bounds.replace('at', 'of at')}, not {value!r}")
    if value < least or (most is not None and value > most):  # pyright: ignore[reportOperatorIssue]
        raise OptionError(f"{name} must be {bounds}, not {value}")
    return int(value)


def text(name: str, value: Any) -> str:
    """The value, a str. Raises OptionError if it is none."""
    if not isinstance(value, str):
        raise OptionError(f"{name} must be a str, not {value!r}")
    return value


def mapping(name: str, value: Any) -> Mapping[Any, Any]:
    """The value, a mapping. Raises OptionError if it is none."""
    if not isinstance(value, Mapping):
        raise OptionError(f"{name} must be a dict, not {value!r}")
    return value


def choice(name: str, value: Any, known: Sequence[str]) -> str:
    """The value, one of those known. Raises OptionError if it is none of them."""
    if value not in known:
        raise OptionError(f"{name} is one of {', '.join(known)}, not {value!r}")
    return value
