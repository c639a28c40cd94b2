"""Finds the dialects: the packages beside this file, each called like its namespace, and those of plug-ins."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from mlir import ir

import aiopt.dialects
from aiopt.dialects.ext import Dialect
from aiopt.support import plugins
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import OptionError


def dialects() -> dict[str, type[Dialect]]:
    """All dialects by namespace. Raises PluginError if a plug-in cannot be loaded."""
    return _dialects((_own(), *plugins.modules(plugins.DIALECTS)))


def own_dialects() -> dict[str, type[Dialect]]:
    """Those of aiopt itself."""
    return _dialects((_own(),))


def load_dialects(context: ir.Context) -> None:
    """Load all dialects into a context."""
    for dialect in dialects().values():
        dialect.load(context)


@cache
def _own() -> ModuleType:
    package = aiopt.dialects
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if info.ispkg:
            importlib.import_module(info.name)
    return package


@cache
def _dialects(roots: tuple[ModuleType, ...]) -> dict[str, type[Dialect]]:
    """The dialects defined in or below these modules."""
    places = tuple(root.__name__ for root in roots)
    found = [cls for cls in Dialect.__subclasses__() if any(_is_below(cls.__module__, place) for place in places)]
    return {cls.namespace: cls for cls in sorted(found, key=lambda cls: cls.namespace)}


def _is_below(module: str, root: str) -> bool:
    return module == root or module.startswith(f"{root}.")


def irdl(namespace: str = "") -> str:
    """One dialect, or all, as IRDL text that stock `mlir-opt --irdl-file=` loads. Raises OptionError."""
    known = dialects()
    if namespace and namespace not in known:
        guess = did_you_mean(namespace, known)
        raise OptionError(f"no dialect is called '{namespace}'{guess} (there is: {', '.join(known)})")
    return "\n".join(known[name].irdl() for name in ([namespace] if namespace else known))
