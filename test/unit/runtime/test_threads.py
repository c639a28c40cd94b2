"""The thread pool: partition, concurrency, forks, floating-point modes."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from aiopt.runtime import library
from aiopt.runtime.library import NetInfo, set_affinity
from aiopt.support.errors import OptionError
from e2e.native import build
from unit.runtime.sanitizer import build_sanitized

TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
PARALLEL_FOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, TASK, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
Loop = Callable[..., None]  # of a function of begin and end, a count and perhaps a width


class Context(ctypes.Structure):
    """aiopt_ctx"""

    _fields_ = (
        ("abi_version", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("arena", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
        ("parallel_for", PARALLEL_FOR),
    )


@contextmanager
def loop(threads: int) -> Iterator[Loop]:
    """parallel_for of a new context, over a Python function of begin and end; one row if no width is given."""
    info = NetInfo(abi_version=library.ABI_VERSION)
    pointer = ctypes.c_void_p()
    assert library.library().aiopt_context_create(ctypes.byref(info), None, threads, ctypes.byref(pointer)) == 0
    assert pointer.value is not None
    context = Context.from_address(pointer.value)

    def run(function: Callable[[int, int], object], count: int, width: int = 0) -> None:
        task = TASK(lambda _args, begin, end: function(begin, end) and None)
        context.parallel_for(pointer, task, None, count, width or count)

    yield run
    library.library().aiopt_context_destroy(pointer)


@pytest.fixture
def places() -> Iterator[list[int]]:
    """Room for eight threads on any machine: a list may name a CPU more than once."""
    cpus = sorted(os.sched_getaffinity(0))
    named = (cpus * 8)[:8]
    set_affinity(named)
    yield named
    set_affinity("auto")


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [-1, 0, 1, 2, 7, 1000])
@pytest.mark.usefixtures("places")
def test_chunks_are_contiguous_even_and_complete(threads: int, count: int) -> None:
    chunks: list[tuple[int, int]] = []
    with loop(threads) as parallel:
        parallel(lambda begin, end: chunks.append((begin, end)), count)
    chunks.sort()
    assert len(chunks) == (min(4 * threads, max(count, 0)) if threads > 1 else min(1, max(count, 0)))
    assert [begin for begin, _ in chunks] == [0, *(end for _, end in chunks[:-1])][: len(chunks)]
    sizes = [end - begin for begin, end in chunks]
    assert sum(sizes) == max(count, 0)
    assert not sizes or max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize(("rows", "width"), [(1, 9), (2, 9), (3, 3), (5, 8), (7, 40), (64, 2), (4, 1)])
@pytest.mark.usefixtures("places")
def test_rows_are_complete_and_chunks_stay_in_a_part_of_them(threads: int, rows: int, width: int) -> None:
    chunks: list[tuple[int, int]] = []
    with loop(threads) as parallel:
        parallel(lambda begin, end: chunks.append((begin, end)), rows * width, width)
    assert sorted(i for begin, end in chunks for i in range(begin, end)) == list(range(rows * width))
    assert all(begin < end for begin, end in chunks)
    if 1 < threads <= width:
        cuts = [part * (width // threads) + min(part, width % threads) for part in range(threads + 1)]
        parts = {(begin, end) for begin, end in pairwise(cuts)}
        assert all(any(a <= i % width < b and j <= i - i % width + b for a, b in parts) for i, j in chunks)


@pytest.mark.usefixtures("places")
def test_a_thread_has_the_same_part_of_every_row() -> None:
    meeting = threading.Barrier(2, timeout=10)
    columns: dict[int, set[int]] = {}

    def work(begin: int, end: int) -> None:
        own = columns.setdefault(threading.get_native_id(), set())
        own.update(i % 10 for i in range(begin, end))
        meeting.wait()  # both threads take as many chunks

    with loop(2) as parallel:
        parallel(work, 40, 10)
    assert sorted(map(sorted, columns.values())) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


@pytest.mark.usefixtures("places")
def test_chunks_run_on_as_many_threads() -> None:
    meeting = threading.Barrier(3, timeout=10)  # breaks unless three threads are in the loop at once
    with loop(3) as parallel:
        parallel(lambda _begin, _end: meeting.wait(), 3)
    assert not meeting.broken


@pytest.mark.usefixtures("places")
def test_a_thread_that_is_held_up_loses_its_chunks_to_others() -> None:
    held, others_done = threading.Event(), threading.Event()
    ran: list[tuple[int, int]] = []

    def work(begin: int, _end: int) -> None:
        ran.append((threading.get_native_id(), begin))
        if len(ran) == 8:
            others_done.set()
        if not held.is_set():
            held.set()  # whoever comes first waits until all other chunks have been begun
            assert others_done.wait(10)

    with loop(2) as parallel:
        parallel(work, 800)
    first, *_ = ran
    assert sorted(begin for _, begin in ran) == list(range(0, 800, 100))
    assert [thread for thread, _ in ran].count(first[0]) == 1


@pytest.mark.usefixtures("places")
def test_second_caller_runs_alone_while_the_pool_is_busy() -> None:
    threads: set[int] = set()
    with loop(2) as outer, loop(2) as inner:

        def nested(_begin: int, _end: int) -> None:
            own = threading.get_ident()
            inner(lambda _b, _e: threads.add(threading.get_ident() - own), 2)

        outer(nested, 2)
    assert threads == {0}


def test_callers_and_workers_are_no_more_than_the_places() -> None:
    """Two nets that run at once have two places: each caller has one, so neither gets a worker."""
    cpus = sorted(os.sched_getaffinity(0))
    set_affinity([cpus[0], cpus[-1]])
    busy, done = threading.Event(), threading.Event()
    seen: set[int] = set()

    def first(loop_: Loop) -> None:
        loop_(lambda begin, _end: begin == 0 and (busy.set() or done.wait(10)), 2)

    try:
        with loop(2) as one, loop(2) as two:
            other = threading.Thread(target=first, args=[one])
            other.start()
            assert busy.wait(10)
            two(lambda _begin, _end: seen.add(threading.get_native_id()), 100)
            done.set()
            other.join()
        assert seen == {threading.get_native_id()}
    finally:
        set_affinity("auto")


def _cpus_of_worker(affinity: str | list[int]) -> set[int]:
    """Where the only worker of a loop of two threads may run."""
    set_affinity(affinity)
    meeting = threading.Barrier(2, timeout=10)
    cpus: dict[int, set[int]] = {}

    def look(_begin: int, _end: int) -> None:
        meeting.wait()
        cpus[threading.get_native_id()] = os.sched_getaffinity(0)

    before = os.sched_getaffinity(0)
    try:
        with loop(2) as parallel:
            parallel(look, 2)
    finally:
        set_affinity("auto")
    assert cpus.pop(threading.get_native_id()) == before == os.sched_getaffinity(0)
    (found,) = cpus.values()
    return found


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_affinity_says_where_workers_run() -> None:
    allowed = os.sched_getaffinity(0)
    last = max(allowed)
    assert _cpus_of_worker("none") == allowed
    assert len(_cpus_of_worker("compact")) == 1
    assert _cpus_of_worker([min(allowed), last]) == {last}
    assert _cpus_of_worker(f"{last},{min(allowed)}") == {min(allowed)}


@pytest.mark.parametrize("affinity", ["", "all", "0,", "1-", "2-1", [], [True], [-1], ["0"], "0,99999"])
def test_affinity_of_no_meaning_is_one_error(affinity: str | list[int]) -> None:
    with pytest.raises(OptionError, match=r"^affinity [^\n]*$"):
        set_affinity(affinity)


def test_affinity_comes_from_the_environment() -> None:
    last = max(os.sched_getaffinity(0))
    program = "from aiopt.runtime.library import library; print(library().aiopt_cpu_count())"

    def run(value: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "AIOPT_AFFINITY": value}
        command = [sys.executable, "-c", program]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    assert run(str(last)).returncode == 0
    assert "OptionError: affinity is auto, none, compact or CPUs such as 0,2-3, not 'near'" in run("near").stderr


def test_workers_take_no_signals() -> None:
    masks: dict[int, set[signal.Signals | int]] = {}
    meeting = threading.Barrier(2, timeout=10)

    def look(_begin: int, _end: int) -> None:
        meeting.wait()
        masks[threading.get_native_id()] = signal.pthread_sigmask(signal.SIG_BLOCK, ())

    cpus = sorted(os.sched_getaffinity(0))
    set_affinity([cpus[0], cpus[-1]])
    try:
        with loop(2) as parallel:
            parallel(look, 2)
    finally:
        set_affinity("auto")
    own = masks.pop(threading.get_native_id())
    (worker,) = masks.values()
    assert signal.SIGINT in worker
    assert signal.SIGINT not in own
    assert signal.SIGSEGV not in worker


@pytest.mark.skipif(platform.machine() != "x86_64", reason="reads MXCSR")
@pytest.mark.usefixtures("places")
def test_workers_take_over_the_floating_point_mode(tmp_path: Path) -> None:
    """A caller that flushes subnormals gets the same numbers on any number of threads."""
    source = tmp_path / "mode.c"
    source.write_text(
        "#include <xmmintrin.h>\n#include <stdint.h>\nunsigned mode_get(void) { return _mm_getcsr(); }\n"
        "void mode_set(unsigned mode) { _mm_setcsr(mode); }"
    )
    build("-shared", "-fPIC", source, "-o", tmp_path / "mode.so")
    mode = ctypes.CDLL(str(tmp_path / "mode.so"))
    flags, flush_to_zero = 0x3F, 0x8000
    usual = mode.mode_get() & ~flags
    seen: list[int] = []
    meeting = threading.Barrier(2, timeout=10)  # a chunk on each thread

    def look(_begin: int, _end: int) -> None:
        meeting.wait()
        seen.append(mode.mode_get() & ~flags)

    with loop(2) as parallel:
        mode.mode_set(usual | flush_to_zero)
        parallel(look, 2)
        mode.mode_set(usual)
        parallel(look, 2)
    assert seen == [usual | flush_to_zero] * 2 + [usual] * 2


@pytest.mark.usefixtures("places")
def test_forked_child_has_a_pool_of_its_own() -> None:
    """A fork copies no threads: waiting for the parent's workers would never end."""
    with loop(2) as old:
        old(lambda _begin, _end: None, 2)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            parts: list[int] = []
            old(lambda begin, end: parts.append(end - begin), 10)  # no workers yet: alone
            with loop(2) as new:
                new(lambda begin, end: parts.append(end - begin), 10)
            os._exit(0 if (parts[0], sorted(parts[1:])) == (10, [1] * 6 + [2] * 2) else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0


def test_thread_sanitizer_finds_nothing(tmp_path: Path) -> None:
    program = build_sanitized("stress.cpp", tmp_path)
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("right\n", "", 0)
