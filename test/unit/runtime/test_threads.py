"""The thread pool: partition, concurrency, forks, floating-point modes."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aiopt.runtime import library
from aiopt.runtime.library import NetInfo
from e2e.native import build
from unit.runtime.sanitizer import build_sanitized

TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
PARALLEL_FOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, TASK, ctypes.c_void_p, ctypes.c_int64)
Loop = Callable[[Callable[[int, int], object], int], None]


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
    """parallel_for of a new context, over a Python function of begin and end."""
    info = NetInfo(abi_version=library.ABI_VERSION)
    pointer = ctypes.c_void_p()
    assert library.library().aiopt_context_create(ctypes.byref(info), None, threads, ctypes.byref(pointer)) == 0
    assert pointer.value is not None
    context = Context.from_address(pointer.value)

    def run(function: Callable[[int, int], object], count: int) -> None:
        context.parallel_for(pointer, TASK(lambda _args, begin, end: function(begin, end) and None), None, count)

    yield run
    library.library().aiopt_context_destroy(pointer)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [-1, 0, 1, 2, 7, 1000])
def test_partition_is_contiguous_and_complete(threads: int, count: int) -> None:
    parts: list[tuple[int, int]] = []
    with loop(threads) as parallel:
        parallel(lambda begin, end: parts.append((begin, end)), count)
    parts.sort()
    assert len(parts) == min(threads, max(count, 0))
    assert [begin for begin, _ in parts] == [0, *(end for _, end in parts[:-1])][: len(parts)]
    sizes = [end - begin for begin, end in parts]
    assert sum(sizes) == max(count, 0)
    assert not sizes or max(sizes) - min(sizes) <= 1


def test_parts_run_on_as_many_threads() -> None:
    meeting = threading.Barrier(3, timeout=10)  # breaks unless three threads are in the loop at once
    with loop(3) as parallel:
        parallel(lambda _begin, _end: meeting.wait(), 3)
    assert not meeting.broken


def test_second_caller_runs_alone_while_the_pool_is_busy() -> None:
    threads: set[int] = set()
    with loop(2) as outer, loop(2) as inner:

        def nested(_begin: int, _end: int) -> None:
            own = threading.get_ident()
            inner(lambda _b, _e: threads.add(threading.get_ident() - own), 2)

        outer(nested, 2)
    assert threads == {0}


def test_workers_take_no_signals_and_are_pinned() -> None:
    masks: dict[int, set[signal.Signals | int]] = {}
    cpus: dict[int, set[int]] = {}

    def look(_begin: int, _end: int) -> None:
        masks[threading.get_native_id()] = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        cpus[threading.get_native_id()] = os.sched_getaffinity(0)

    before = os.sched_getaffinity(0)
    with loop(2) as parallel:
        parallel(look, 2)
    own = masks.pop(threading.get_native_id())
    (worker,) = masks.values()
    assert signal.SIGINT in worker
    assert signal.SIGINT not in own
    assert signal.SIGSEGV not in worker
    assert cpus.pop(threading.get_native_id()) == before == os.sched_getaffinity(0)
    (pinned,) = cpus.values()
    assert pinned <= before
    assert len(pinned) == 1 or len(before) == 1


@pytest.mark.skipif(platform.machine() != "x86_64", reason="reads MXCSR")
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
    with loop(2) as parallel:
        mode.mode_set(usual | flush_to_zero)
        parallel(lambda _begin, _end: seen.append(mode.mode_get() & ~flags), 2)
        mode.mode_set(usual)
        parallel(lambda _begin, _end: seen.append(mode.mode_get() & ~flags), 2)
    assert seen == [usual | flush_to_zero] * 2 + [usual] * 2


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
            os._exit(0 if parts == [10, 5, 5] else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0


def test_thread_sanitizer_finds_nothing(tmp_path: Path) -> None:
    program = build_sanitized("stress.cpp", tmp_path)
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("right\n", "", 0)
