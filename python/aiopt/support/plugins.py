"""Modules of others that add dialects, passes and targets: those of entry points, and those loaded by name.

A package offers a module under one of the entry points GROUPS, in its pyproject.toml:

    [project.entry-points."aiopt.passes"]
    shop = "shop.passes"

Registries search such modules, and the submodules of packages, as they search aiopt's own.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from itertools import chain
from types import ModuleType

from aiopt.support.errors import AioptError, PluginError
from aiopt.support.installed import mentions_entry_points

DIALECTS, PASSES, TARGETS = GROUPS = ("aiopt.dialects", "aiopt.passes", "aiopt.targets")

_loaded: dict[str, tuple[ModuleType, ...]] = {}


def load(name: str) -> None:
    """Import a module, and what is below it, for every registry to search (`--load-python=MODULE`). Once is enough.

    Raises PluginError if it cannot be imported.
    """
    if name not in _loaded:
        _loaded[name] = _import(name, f"--load-python={name}")


def modules(group: str) -> tuple[ModuleType, ...]:
    """The modules to search for one of GROUPS, each once: those of its entry points, then those loaded by name.

    Raises PluginError that names the entry point if one cannot be imported.
    """
    return tuple(dict.fromkeys(chain(_installed(group), *_loaded.values())))


@cache
def _installed(group: str) -> tuple[ModuleType, ...]:
    if not mentions_entry_points(group):
        return ()
    from importlib.metadata import entry_points  # takes 30 ms to load

    found: list[ModuleType] = []
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        origin = f"the entry point '{point.name}' of {group}"
        if point.attr:
            raise PluginError(f"{origin} must name a module, as '{point.module}', not '{point.value}'")
        found += _import(point.module, origin)
    return tuple(found)


def _import(name: str, origin: str) -> tuple[ModuleType, ...]:
    try:
        root = importlib.import_module(name)
        below = pkgutil.walk_packages(getattr(root, "__path__", ()), f"{name}.")
        return (root, *(importlib.import_module(info.name) for info in below))
    except AioptError as error:
        raise type(error)(f"{origin}: {error}") from error
    except Exception as error:  # whatever a module of others does
        raise PluginError(f"{origin} cannot be loaded: {type(error).__name__}: {error}") from error
