"""Run work in a forked child, so that an abort of LLVM (the wheels have assertions on) leaves the caller alive.

The child's stderr has two roads. What Python writes goes straight on. What native code writes to file descriptor 2
is held back: it is passed on if the child ends by itself, and is only searched for the reason if it dies.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

_PR_SET_PDEATHSIG = 1  # prctl(2)
_FINISHED = "finished"


@dataclass(frozen=True)
class Entry:
    """What a child was doing: a step, the pipeline from it on, and the module before it as bytecode (maybe empty)."""

    step: str
    pipeline: tuple[str, ...]
    module: bytes


class Journal:
    """A nameless file in which the child keeps its last entry and the parent finds it after the child's death."""

    def __init__(self) -> None:
        self._file = io.FileIO(os.memfd_create("aiopt-journal"), "r+")

    def record(
        self, step: str, pipeline: Sequence[str] = (), write_module: Callable[[io.FileIO], None] | None = None
    ) -> None:
        """Replace the entry. `write_module` puts the module's bytecode into the file it is given."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(json.dumps([step, list(pipeline)]).encode() + b"\n")
        if write_module is not None:
            write_module(self._file)

    def read(self) -> Entry:
        """The last entry."""
        self._file.seek(0)
        head, _, module = self._file.read().partition(b"\n")
        step, pipeline = json.loads(head) if head else ("the start", [])
        return Entry(step, tuple(pipeline), module)

    def finish(self) -> None:
        """Say that the work came to its end, well or not."""
        self.record(_FINISHED)

    @property
    def finished(self) -> bool:
        return self.read().step == _FINISHED


@dataclass(frozen=True)
class Outcome:
    """How a child ended: `code` if it came to its end, else the `signal` (0: it exited inside native code)."""

    code: int | None
    signal: int
    native_stderr: str
    last: Entry


def run(work: Callable[[Journal], int]) -> Outcome:
    """Call `work` in a forked child and wait for it. An interrupt from the keyboard ends the child and is raised."""
    assert "mlir" not in sys.modules, "fork before mlir is imported: a fork of a process with its threads can hang"
    journal = Journal()
    with tempfile.TemporaryFile() as native:
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _child(work, journal, native.fileno(), parent)
        status = _wait(pid)
        native.seek(0)
        text = native.read().decode(errors="backslashreplace")
    ended = os.WIFEXITED(status) and journal.finished
    code = os.WEXITSTATUS(status) if ended else None
    return Outcome(code, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, text, journal.read())


def drop_native_stderr() -> None:
    """In the child: forget what native code has written to its stderr so far."""
    os.lseek(2, 0, os.SEEK_SET)
    os.ftruncate(2, 0)


def native_mark() -> int:
    """In the child: where native code's stderr has come to."""
    return os.lseek(2, 0, os.SEEK_CUR)


def write_native_stderr(text: str) -> None:
    """In the child: append to native code's stderr, so that what both say stays in order."""
    os.write(2, text.encode())


def pass_on_native_stderr() -> None:
    """In the child: let what native code has said so far be seen, before something that must come after it."""
    sys.stderr.write(take_native_stderr(0))
    sys.stderr.flush()


def take_native_stderr(mark: int) -> str:
    """In the child: what has been written to native code's stderr since a mark, which is taken back from it."""
    end = os.lseek(2, 0, os.SEEK_CUR)
    data = os.pread(2, end - mark, mark)
    os.lseek(2, mark, os.SEEK_SET)
    os.ftruncate(2, mark)
    return data.decode(errors="backslashreplace")


def _wait(pid: int) -> int:
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # not reaped yet: until then the pid is the child's
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    return os.waitpid(pid, 0)[1]


def _child(work: Callable[[Journal], int], journal: Journal, native: int, parent: int) -> None:
    """Never returns; skips the teardown of native libraries, in which there is nothing to win."""
    code = 1
    try:
        _die_with(parent)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _bound_memory()
        os.environ["LLVM_DISABLE_SYMBOLIZATION"] = "1"
        with _native_stderr_to(native):
            code = work(journal)
        journal.finish()
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _bound_memory() -> None:
    """Refuse more than the machine has: what asks for that gets a MemoryError, and nobody else is put out of memory."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    given = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([machine, *given]), hard))


def _die_with(parent: int) -> None:
    """Let the kernel end this child when its parent dies, however it dies."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


@contextlib.contextmanager
def _native_stderr_to(descriptor: int) -> Iterator[None]:
    real: IO[str] = os.fdopen(os.dup(2), "w", buffering=1, errors="backslashreplace")
    os.dup2(descriptor, 2)
    sys.stderr = real
    try:
        yield
    finally:
        real.flush()
