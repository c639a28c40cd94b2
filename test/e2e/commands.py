"""Running the installed commands."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path


def command(*words: str | Path, cwd: Path | None = None, stdin: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of this environment; its output is captured, its status not checked."""
    with open(stdin or os.devnull, "rb") as source:
        return subprocess.run(
            [program(str(words[0])), *map(str, words[1:])],
            cwd=cwd,
            stdin=source,
            capture_output=True,
            text=True,
            check=False,
        )


def error_of(*words: str | Path) -> str:
    """Run a command that must fail: status 1, nothing on stdout, one `error:` line on stderr, which is returned."""
    done = command(*words)
    assert done.returncode == 1, done
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ") or ": error: " in lines[0], lines
    return lines[0]


def program(name: str) -> str:
    """A command of this environment, or a tool that came in the `mlir` wheel."""
    places = [Path(sys.executable).parent]
    spec = importlib.util.find_spec("mlir")
    places += [Path(place) / "bin" for place in (spec and spec.submodule_search_locations) or []]
    found = shutil.which(name, path=":".join(map(str, places)))
    assert found, f"{name} is not installed in this environment"
    return found
