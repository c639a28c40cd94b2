"""Figures that are measured in fresh processes."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aiopt.support.errors import AioptError
from bench import start
from bench.figure import Figure, at_most, failed
from bench.large import write_large_model
from e2e.models import resnet50_random

_FRESH = Path(__file__).with_name("fresh.py")
# Tuning of OpenBLAS for one machine, which would slow its start or change it in the processes that are measured.
_UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
_TIMES = 5
_LARGE = 1_000_000_000  # bytes
_LATENCY = {"resnet50-random": 2.0, "detector-640x640": 2.0, "minilm-128": 1.5}
_IMPORT = """
import time
start = time.perf_counter()
import aiopt
seconds = time.perf_counter() - start
import json, sys
print(json.dumps({"seconds": seconds, "heavy": [name for name in ("mlir", "onnx") if name in sys.modules]}))
"""


def _compile() -> Iterator[Figure]:
    """ResNet-50: time and memory of the compiler, and what its report says."""
    with tempfile.TemporaryDirectory(prefix="aiopt-figures-") as folder:
        model = Path(folder) / "resnet50.onnx"
        model.write_bytes(resnet50_random())
        cold = _fresh("compile", str(model), AIOPT_CACHE="0")
        cached = {"AIOPT_CACHE": "1", "AIOPT_CACHE_DIR": str(Path(folder) / "cache")}
        _fresh("compile", str(model), **cached)
        hits = [_fresh("compile", str(model), **cached) for _ in range(_TIMES)]
    report = cold["report"]
    yield at_most("resnet50, launches", report["launches"], 60)
    results = sum(kernel["result_bytes"] for kernel in report["kernels"])
    yield at_most("resnet50, arena / results of all kernels", 100 * report["arena_bytes"] / results, 25, "%")
    yield at_most("resnet50, compile cold in a fresh process", cold["seconds"], 6, "s")
    if any(hit["report"]["cache"] != "hit" for hit in hits):
        raise AioptError("the net was not found in the cache")
    seconds = statistics.median(hit["seconds"] for hit in hits)
    yield at_most("resnet50, compile from the cache in a fresh process", seconds, 0.3, "s")
    yield at_most("resnet50, peak memory of the compiler", cold["peak_bytes"] / 1e9, 1.2, "GB")


def _latency() -> Iterator[Figure]:
    for network, most in _LATENCY.items():
        seconds = _fresh("latency", network)
        name = f"{network}, latency on one thread / ONNX Runtime's"
        yield at_most(name, seconds["ours"] / seconds["onnxruntime"], most)


def _single_node() -> Iterator[Figure]:
    for node, seconds in _fresh("single-node").items():
        yield at_most(f"one {node}, compile in a warm process", seconds * 1e3, 60, "ms")


def _tiny() -> Iterator[Figure]:
    for node, seconds in _fresh("tiny").items():
        yield at_most(f"one small {node}, its first compilation", seconds, 0.4, "s")


def _graph() -> Iterator[Figure]:
    yield at_most("ai-graph-pipeline on 10000 ops", _fresh("graph", "10000"), 5, "s")


def _call() -> Iterator[Figure]:
    for way, seconds in _fresh("call").items():
        yield at_most(f"{way}, what a call costs beyond the compiled entry", seconds * 1e6, 15, "µs")


def _import() -> Iterator[Figure]:
    found = [_child("-c", _IMPORT) for _ in range(_TIMES)]
    yield at_most("import aiopt in a fresh process", statistics.median(one["seconds"] for one in found), 0.15, "s")
    heavy = found[0]["heavy"]
    yield Figure("import aiopt, brings mlir or onnx", ", ".join(heavy) or "neither", "neither", not heavy)


def _memory() -> Iterator[Figure]:
    """The compiler on a model of 1 GB, whose weights lie in a file beside it."""
    with tempfile.TemporaryDirectory(prefix="aiopt-figures-") as folder:
        model = write_large_model(Path(folder), _LARGE)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        found = _fresh("compile", str(model), AIOPT_CACHE="0")
    most = (2.5 * size + 500e6) / 1e9
    yield at_most(f"a model of {size / 1e9:.2f} GB, peak memory of the compiler", found["peak_bytes"] / 1e9, most, "GB")


SECTIONS: dict[str, Callable[[], Iterator[Figure]]] = {
    "compile": _compile,
    "latency": _latency,
    "single-node": _single_node,
    "tiny": _tiny,
    "graph": _graph,
    "call": _call,
    "import": _import,
    "memory": _memory,
    "start": start.figures,
}


def measure(section: str) -> Iterator[Figure]:
    """The figures of one of SECTIONS."""
    try:
        yield from SECTIONS[section]()
    except AioptError as error:  # the other sections can still be measured
        yield failed(section, error)


def _fresh(*arguments: str, **variables: str) -> Any:
    return _child(str(_FRESH), *arguments, **variables)


def _child(*arguments: str, **variables: str) -> Any:
    """What a fresh interpreter prints as JSON. Raises AioptError if it fails."""
    environment = {key: value for key, value in os.environ.items() if key not in _UNSET} | variables
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2]
        raise AioptError(f"a process ended with status {done.returncode}: {last}")
    return json.loads(done.stdout)
