"""Compiled nets outside Python: C compiled for tests, and a C program that counts the allocator's calls in a run."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aiopt.runtime import library

HERE = Path(__file__).resolve().parent
ALIGNMENT = 64


@dataclass(frozen=True)
class NativeRun:
    """What count_mallocs.c printed, and the raw bytes of each output."""

    planted: dict[str, dict[str, int]]  # by where: main, worker, context
    calls: dict[int, dict[str, int]]  # by number of threads
    same: bool  # outputs of all runs equal bit for bit
    outputs: list[bytes]


def build(*arguments: object, compiler: str = "cc") -> None:
    """Run the compiler with aiopt.h on its path; its messages are the failure's text."""
    command = [compiler, f"-I{library.include_folder()}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


def compile_c(source: str, folder: Path) -> bytes:
    """C text -> the bytes of a position-independent object file."""
    text, code = folder / "net.c", folder / "net.o"
    text.write_text(source)
    build("-O1", "-c", "-fPIC", text, "-o", code)
    return code.read_bytes()


def aligned(*arrays: np.ndarray) -> np.ndarray:
    """The bytes of the arrays, one after the other, as a weights blob."""
    data = b"".join(array.tobytes() for array in arrays)
    raw = np.zeros(len(data) + ALIGNMENT, np.uint8)
    blob = raw[-raw.ctypes.data % ALIGNMENT :][: len(data)]
    blob[:] = np.frombuffer(data, np.uint8)
    return blob


def count_mallocs(
    name: str,
    objects: Sequence[bytes],
    weights: np.ndarray,
    inputs: Sequence[np.ndarray],
    output_count: int,
    folder: Path,
    runs: int = 3,
) -> NativeRun:
    """Link the objects of net `name` into a shared object, run it from C with one and two threads, count."""
    program, shared = folder / "count_mallocs", folder / "net.so"
    build("-std=gnu11", "-O1", "-rdynamic", HERE / "count_mallocs.c", "-o", program, "-ldl", "-lpthread")
    codes = [folder / f"net{i}.o" for i in range(len(objects))]
    for code, data in zip(codes, objects, strict=True):
        code.write_bytes(data)
    build("-shared", *codes, "-o", shared, "-lm")
    files = [folder / "weights.bin", *(folder / f"in{i}.bin" for i in range(len(inputs)))]
    for file, array in zip(files, [weights, *inputs], strict=True):
        file.write_bytes(array.tobytes())
    outputs = [folder / f"out{i}.bin" for i in range(output_count)]
    command = [program, library.path(), shared, name, str(runs), *files, *outputs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    calls = {run["threads"]: run["calls"] for run in printed["runs"]}
    return NativeRun(printed["planted"], calls, printed["same"], [path.read_bytes() for path in outputs])
