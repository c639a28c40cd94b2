"""How long the command `aiopt` takes to start, against a process that imports mlir and does the same itself."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from aiopt.support.errors import AioptError
from bench.figure import Figure, at_most

_TIMES = 11
_MODULE = """func.func @f(%x: i32, %m: memref<4xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  memref.store %b, %m[%c0] : memref<4xi32>
  return %b : i32
}
"""
_PLAIN = """
import sys
from mlir import ir
from mlir.passmanager import PassManager
with ir.Context():
    module = ir.Module.parseFile(sys.argv[1])
    PassManager.parse("builtin.module(canonicalize)").run(module.operation)
    print(module)
"""


def figures() -> Iterator[Figure]:
    """Start-up times; the processes that are compared take turns. Modules that are imported come from .pyc files."""
    aiopt = str(Path(sys.executable).with_name("aiopt"))
    with tempfile.TemporaryDirectory(prefix="aiopt-figures-") as folder:
        source = Path(folder) / "small.mlir"
        source.write_text(_MODULE)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = folder
        commands = [[aiopt, str(source), "--canonicalize"], [sys.executable, "-c", _PLAIN, str(source)]]
        for command in commands:
            _seconds(command, environment)
        taken = [[_seconds(command, environment) for command in commands] for _ in range(_TIMES)]
        ours, plain = (statistics.median(times) for times in zip(*taken, strict=True))
        yield at_most("aiopt on ten lines / a process that imports mlir and does the same", ours / plain, 1.3)
        version = statistics.median(_seconds([aiopt, "--version"], environment) for _ in range(_TIMES))
        yield at_most("aiopt --version", version, 1.0, "s")


def _seconds(command: Sequence[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AioptError(f"{command[0]} ended with status {done.returncode}: {done.stderr}")
    return time.perf_counter() - start
