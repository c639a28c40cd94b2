"""Targets: a subpackage of this one, or a plug-in, that nets can be compiled for offers one as `TARGET`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from aiopt.passes import registry
from aiopt.support import plugins
from aiopt.support.errors import OptionError, PluginError
from aiopt.targets.base import Target

registry.add_package("aiopt.targets")


def targets() -> dict[str, Target]:
    """All targets by name. Raises PluginError if two share one."""
    return _targets(plugins.modules(plugins.TARGETS))


@cache
def _targets(others: tuple[ModuleType, ...]) -> dict[str, Target]:
    own = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__) if info.ispkg]
    found: dict[str, Target] = {}
    places: dict[str, str] = {}
    for module in (*own, *others):
        target = getattr(module, "TARGET", None)
        if not isinstance(target, Target):
            continue
        if target.name in found:
            raise PluginError(f"two targets are called {target.name}: {places[target.name]} and {module.__name__}")
        found[target.name], places[target.name] = target, module.__name__
    return found


def find_target(name: str) -> Target:
    """The target of this name. Raises OptionError if there is none."""
    if name not in targets():
        raise OptionError(f"there is no target '{name}' (there is: {', '.join(sorted(targets()))})")
    return targets()[name]
