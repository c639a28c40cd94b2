"""Finds the dialects by walking the packages beside this file; each is a package called like its namespace."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import aiopt.dialects
from aiopt.dialects.ext import Dialect
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import OptionError


@cache
def dialects() -> dict[str, type[Dialect]]:
    """The dialects defined here, by namespace."""
    package = aiopt.dialects
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if info.ispkg:
            importlib.import_module(info.name)
    own = [cls for cls in Dialect.__subclasses__() if cls.__module__.startswith(f"{package.__name__}.")]
    return {cls.namespace: cls for cls in sorted(own, key=lambda cls: cls.namespace)}


def irdl(namespace: str = "") -> str:
    """One dialect, or all, as IRDL text that stock `mlir-opt --irdl-file=` loads. Raises OptionError."""
    known = dialects()
    if namespace and namespace not in known:
        guess = did_you_mean(namespace, known)
        raise OptionError(f"no dialect is called '{namespace}'{guess} (there is: {', '.join(known)})")
    return "\n".join(known[name].irdl() for name in ([namespace] if namespace else known))
