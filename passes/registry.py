"""Finds passes and named pipelines by walking packages; two of one name are an error."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache

from aiopt.passes.base import Configurable, NamedPipeline, Pass

PACKAGES = ["aiopt.passes"]


def add_package(name: str) -> None:
    """Also look for passes and pipelines in this package (a target, an extension)."""
    if name not in PACKAGES:
        PACKAGES.append(name)
        registered.cache_clear()


@cache
def registered() -> dict[str, type[Configurable]]:
    """All passes and named pipelines by name. Raises TypeError if two share one."""
    found: dict[str, type[Configurable]] = {}
    for package in PACKAGES:
        for module in _modules(package):
            for _, cls in inspect.getmembers(module, inspect.isclass):
                if cls.__module__ == module.__name__ and issubclass(cls, (Pass, NamedPipeline)) and "name" in vars(cls):
                    if cls.name in found:
                        raise TypeError(f"two passes are called {cls.name}: {found[cls.name]} and {cls}")
                    found[cls.name] = cls
    return found


def _modules(package: str):
    root = importlib.import_module(package)
    yield root
    for info in pkgutil.walk_packages(root.__path__, package + "."):
        yield importlib.import_module(info.name)
