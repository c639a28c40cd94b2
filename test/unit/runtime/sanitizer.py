"""Programs under ThreadSanitizer: the runtime's sources and one of ours."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from e2e.native import build

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[2] / "python" / "aiopt" / "runtime" / "src"
_FLAGS = ("-std=c++17", "-O1", "-g", "-fsanitize=thread", "-pthread", "-rdynamic")


def build_sanitized(source: str, folder: Path) -> Path:
    """The program of a source beside this file; skips the test where ThreadSanitizer is not to be had."""
    probe = folder / "probe.cpp"
    probe.write_text("int main() { return 0; }")
    try:
        build(*_FLAGS, probe, "-o", folder / "probe", compiler="c++")
    except AssertionError:
        pytest.skip("this compiler has no ThreadSanitizer")
    if subprocess.run([folder / "probe"], capture_output=True, check=False).returncode != 0:
        pytest.skip("ThreadSanitizer does not run under this kernel")
    program = folder / Path(source).stem
    build(*_FLAGS, HERE / source, *sorted(SOURCES.glob("*.cpp")), "-ldl", "-o", program, compiler="c++")
    return program
