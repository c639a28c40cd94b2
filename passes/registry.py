"""Finds passes and named pipelines by walking packages, plug-ins among them; two of one name are an error."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from types import ModuleType

from aiopt.passes import native
from aiopt.passes.base import Configurable, NamedPipeline, Pass
from aiopt.support import plugins
from aiopt.support.errors import PluginError

PACKAGES = ["aiopt.passes"]


def add_package(name: str) -> None:
    """Also look for passes and pipelines in this package (a target, an extension)."""
    if name not in PACKAGES:
        PACKAGES.append(name)


def registered() -> dict[str, type[Configurable]]:
    """All passes and named pipelines by name. Raises PluginError if two share one."""
    own = [module for package in PACKAGES for module in _modules(package)]
    return _registered((*own, *plugins.modules(plugins.PASSES)))


@cache
def _registered(modules: tuple[ModuleType, ...]) -> dict[str, type[Configurable]]:
    found: dict[str, type[Configurable]] = {}
    for module in dict.fromkeys(modules):
        for _, cls in inspect.getmembers(module, inspect.isclass):
            if cls.__module__ == module.__name__ and issubclass(cls, (Pass, NamedPipeline)) and "name" in vars(cls):
                if not cls.__module__.startswith("aiopt.") and native.is_registered(cls.name):
                    raise PluginError(f"two passes are called {cls.name}: upstream's and {_title(cls)}")
                if cls.name in found:
                    raise PluginError(f"two passes are called {cls.name}: {_title(found[cls.name])} and {_title(cls)}")
                found[cls.name] = cls
    return found


@cache
def _modules(package: str) -> tuple[ModuleType, ...]:
    root = importlib.import_module(package)
    below = pkgutil.walk_packages(root.__path__, package + ".")
    return (root, *(importlib.import_module(info.name) for info in below))


def _title(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
