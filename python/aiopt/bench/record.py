"""Records of benchmarks: the machine, the versions, the measurements; and what changed between two of them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from aiopt.bench.text import mean, variant
from aiopt.support.errors import InputError

FORMAT = 1
_NOISE = 0.05  # a smaller change of a median is none
_PACKAGES = ("aiopt", "numpy", "onnx", "onnxruntime", "openvino", "iree-base-compiler", "xtc-mlir-python-bindings")


def machine() -> dict[str, Any]:
    """CPU, cores, memory in bytes, system, Python, and the versions of what takes part."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": versions,
    }


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def read(path: Path) -> dict[str, Any]:
    """A record written by `aiopt-bench --json`. Raises InputError if it is none."""
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"cannot read the record '{path}': {reason}") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT or "models" not in record:
        raise InputError(f"'{path}' is no record of aiopt-bench --json of format {FORMAT}")
    return record


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Lines on what got better and worse for aiopt from one record to another, by model and number of threads."""
    if "commit" in before and "commit" in after:
        yield f"from {before['commit'][:12] or 'no commit'} to {after['commit'][:12] or 'no commit'}"
    if before["machine"]["cpu"] != after["machine"]["cpu"]:
        yield f"note: the records are of different CPUs: {before['machine']['cpu']}, {after['machine']['cpu']}"
    old, new = _by_case(before), _by_case(after)
    for case in new.keys() - old.keys():
        yield f"{case}: only in the second record"
    for case in old:
        if case not in new:
            yield f"{case}: only in the first record"
            continue
        yield f"{case}: {_changes(old[case], new[case])}"
    yield from _sum_up(old, new)


def _sum_up(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What all models that are in both records say together, if there are several."""
    both = [case for case in old if case in new]
    if len(both) < 2:
        return
    changes = [new[case]["aiopt"]["median"] / old[case]["aiopt"]["median"] for case in both]
    words = [_word(change) for change in changes]
    counts = ", ".join(f"{words.count(word)} {word}" for word in ("faster", "as fast", "SLOWER"))
    yield f"all {len(both)}: {counts}; mean {mean(changes):.3f}x"


def _word(change: float) -> str:
    return "as fast" if abs(change - 1) <= _NOISE else "faster" if change < 1 else "SLOWER"


def _by_case(record: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{model['model']}, {entry['threads']} threads{variant(entry)}": entry["engines"]
        for model in record["models"]
        for entry in model["measurements"]
    }


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    before, after = old["aiopt"], new["aiopt"]
    ratio = after["median"] / before["median"]
    parts = [f"{_word(ratio)}, {before['median'] * 1e3:.3f} -> {after['median'] * 1e3:.3f} ms ({ratio:.2f}x)"]
    for peer in sorted(old.keys() & new.keys() - {"aiopt"}):
        if "ratio" in old[peer] and "ratio" in new[peer]:
            parts.append(f"of {peer} {old[peer]['ratio']:.2f} -> {new[peer]['ratio']:.2f}")
    megabytes = (before["peak_bytes"] / 1e6, after["peak_bytes"] / 1e6)
    parts.append(f"memory {megabytes[0]:.0f} -> {megabytes[1]:.0f} MB")
    if "difference" in before and "difference" in after:
        parts.append(f"difference {before['difference']:.2g} -> {after['difference']:.2g}")
    return ", ".join(parts)
