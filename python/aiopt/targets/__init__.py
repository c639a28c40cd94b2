"""Targets. What needs the compiler is loaded at its first use: the simulator of an NPU runs without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aiopt.targets.discovery import find_target, targets

__all__ = ["find_target", "targets"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from aiopt.targets import discovery

        return getattr(discovery, name)
    raise AttributeError(f"module 'aiopt.targets' has no attribute '{name}'")
