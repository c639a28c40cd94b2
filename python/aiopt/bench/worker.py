"""One engine with one model in a process of its own: its threads and its memory are its own too.

Threads of an engine may go on for long after a run, waiting for the next one (ONNX Runtime's for 0.1 s). So that they
take no CPU from the engine that is measured next, a process is stopped (SIGSTOP) whenever it is asked nothing, each
engine's in the same way. Nothing changes inside a turn: runs follow one another as in a loop, after one that is not
counted, which finds caches and threads as the other engines have left them.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from aiopt.bench import engines
from aiopt.bench.engines import Job
from aiopt.support.errors import AioptError, CompileError

# Tuning of OpenBLAS for one machine, which would change the engines that use it.
_UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
_LEAST_PROFILES = 10
_PATIENCE = 5.0  # seconds that a process is given to end
_PR_SET_PDEATHSIG = 1


class Worker:
    """A child process, an interpreter of its own. Calls raise CompileError if it fails."""

    def __init__(self, engine: str, job: Job, inputs: Mapping[str, np.ndarray], cores: set[int]) -> None:
        """cores: where it runs once the model is loaded."""
        self.engine = engine
        self._pipe, theirs = Pipe()
        environment = {key: value for key, value in os.environ.items() if key not in _UNSET}
        number = theirs.fileno()
        command = [sys.executable, "-m", "aiopt.bench.worker", str(number)]
        self._process = subprocess.Popen(command, env=environment, pass_fds=[number], stdout=subprocess.DEVNULL)
        theirs.close()
        self.loaded = self._ask(engine, job, dict(inputs), cores)

    def outputs(self) -> dict[str, np.ndarray]:
        """Of one run."""
        return self._ask("outputs")

    def seconds(self, runs: int) -> list[tuple[float, float]]:
        """Of each of some runs after one that is not counted, by the clock and of CPU time of all its threads."""
        return self._ask("seconds", runs)

    def profile(self, seconds: float) -> list[tuple[str, float]]:
        """Each kernel call and its least seconds in as many runs (ten or more); empty for engines that cannot tell."""
        return self._ask("profile", seconds)

    def peak_bytes(self) -> int:
        """The most memory the process has had so far."""
        return self._ask("peak")

    def close(self) -> None:
        self._pipe.close()
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, *question: Any) -> Any:
        self._process.send_signal(signal.SIGCONT)
        try:
            self._pipe.send(question)
            kind, value = self._pipe.recv()
        except (EOFError, ConnectionError):
            status = self._process.wait()
            raise CompileError(f"the process of {self.engine} ended with status {status}") from None
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)  # until all threads stand still
        if kind == "error":
            raise CompileError(value)
        return value


def main(number: str) -> None:
    """Answer questions that come through a file descriptor: first what to load, then runs of it."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)  # lest it stays, stopped, where the asker was killed
    pipe = Connection(int(number))
    engine, job, inputs, cores = pipe.recv()
    _work(pipe, engine, job, inputs, cores)


def _work(pipe: Connection, engine: str, job: Job, inputs: dict[str, np.ndarray], cores: set[int]) -> None:
    try:
        start = time.perf_counter()
        loaded = engines.load(engine, job)
        seconds = time.perf_counter() - start
        os.sched_setaffinity(0, cores)
        loaded.run(inputs)
        pipe.send(("loaded", {"seconds": seconds, "report": dict(loaded.report)}))
        while True:
            question, *arguments = pipe.recv()
            if question == "outputs":
                answer: Any = loaded.run(inputs)
            elif question == "seconds":
                answer = _times(loaded, inputs, arguments[0])
            elif question == "profile":
                answer = _profile(loaded, inputs, arguments[0])
            else:
                answer = _peak_bytes()
            pipe.send((question, answer))
    except EOFError:
        return
    except AioptError as error:
        pipe.send(("error", str(error)))
    except Exception as error:  # engines share no class of errors
        pipe.send(("error", f"{engine} cannot run '{job.model}': {type(error).__name__}: {error}"))


def _times(loaded: engines.Loaded, inputs: dict[str, np.ndarray], runs: int) -> list[tuple[float, float]]:
    return [_time(loaded, inputs) for _ in range(1 + runs)][1:]


def _time(loaded: engines.Loaded, inputs: dict[str, np.ndarray]) -> tuple[float, float]:
    start, spent = time.perf_counter(), time.process_time()
    loaded.run(inputs)
    return time.perf_counter() - start, time.process_time() - spent


def _profile(loaded: engines.Loaded, inputs: dict[str, np.ndarray], seconds: float) -> list[tuple[str, float]]:
    if loaded.profile is None:
        return []
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < _LEAST_PROFILES:
        times.append(loaded.profile(inputs))
    return [(calls[0][0], min(seconds for _, seconds in calls)) for calls in zip(*times, strict=True)]


def _peak_bytes() -> int:
    """Of this program: ru_maxrss would begin with what the process that started it had."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main(sys.argv[1])
