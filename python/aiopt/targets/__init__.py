"""Targets, found by walking this package: a subpackage that nets can be compiled for offers one as `TARGET`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from aiopt.passes import registry
from aiopt.support.errors import OptionError
from aiopt.targets.base import Target

registry.add_package("aiopt.targets")


@cache
def targets() -> dict[str, Target]:
    """All targets by name. Raises TypeError if two share one."""
    found: dict[str, Target] = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.ispkg:
            continue
        target = getattr(importlib.import_module(f"{__name__}.{info.name}"), "TARGET", None)
        if target is None:
            continue
        if target.name in found:
            raise TypeError(f"two targets are called {target.name}")
        found[target.name] = target
    return found


def find_target(name: str) -> Target:
    """The target of this name. Raises OptionError if there is none."""
    if name not in targets():
        raise OptionError(f"there is no target '{name}' (there is: {', '.join(sorted(targets()))})")
    return targets()[name]
