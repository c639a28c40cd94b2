"""Compile a model in a process that ends then, so that the one that runs the net never had the compiler in it.

python -m aiopt.bench.compile_job FILE, with a pickled Job on the standard input: writes an artifact, prints a report.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

from aiopt.bench.engines import Job, compile_here
from aiopt.runtime.net import CompiledNet
from aiopt.support.errors import AioptError, CompileError


def compile_apart(job: Job, path: Path) -> dict[str, Any] | None:
    """Write the net of a job to a file and return its report; None for one that runs in stages, which has no file.

    Raises CompileError.
    """
    command = [sys.executable, "-m", "aiopt.bench.compile_job", str(path)]
    done = subprocess.run(command, input=pickle.dumps(job), capture_output=True, check=False)
    if done.returncode != 0:
        raise CompileError(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    return json.loads(done.stdout)


def main(path: str) -> int:
    job: Job = pickle.load(sys.stdin.buffer)
    try:
        net = compile_here(job)
        is_whole = isinstance(net, CompiledNet)
        if is_whole:
            net.save(path)
    except AioptError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(net.report() if is_whole else None))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
