"""Run a function on many items in worker processes that may crash or hang."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, TypeVar

TOO_LONG = "took too long"
T = TypeVar("T")
R = TypeVar("R")


class _Worker:
    """A forked process (the items need no pickling) that answers an index with the function's result."""

    def __init__(self, function: Callable[[T], R], items: Sequence[T]) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        self.process: ForkProcess = context.Process(target=_serve, args=(other, function, items), daemon=True)
        self.process.start()
        other.close()
        self.index = -1
        self.deadline = 0.0

    def give(self, index: int, seconds: float) -> None:
        self.index, self.deadline = index, time.monotonic() + seconds
        self.pipe.send(index)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_all(function: Callable[[T], R], items: Sequence[T], *, workers: int, seconds: float) -> list[R | str]:
    """The function's result for each item; a line of text for an item whose process died or took too long.

    The calling process must not have threads or anything loaded that a fork breaks (mlir).
    """
    results: dict[int, R | str] = {}
    left = iter(range(len(items)))
    pool: dict[Connection, _Worker] = {}

    def start() -> None:
        if (index := next(left, None)) is not None:
            worker = _Worker(function, items)
            worker.give(index, seconds)
            pool[worker.pipe] = worker

    for _ in range(workers):
        start()
    while pool:
        for worker, result in _finished(pool):
            results[worker.index] = result
            if isinstance(result, str):
                del pool[worker.pipe]
                worker.end()
                start()
            elif (index := next(left, None)) is None:
                del pool[worker.pipe]
                worker.end()
            else:
                worker.give(index, seconds)
            if sys.stderr.isatty():
                print(f"\r{len(results)} of {len(items)}", end="", file=sys.stderr, flush=True)
    return [results[index] for index in range(len(items))]


def _finished(pool: dict[Connection, _Worker]) -> Iterator[tuple[_Worker, Any]]:
    """Workers that answered, died or are over their time, each with what to note."""
    now = time.monotonic()
    ready = wait(list(pool), max(min(worker.deadline for worker in pool.values()) - now, 0))
    for pipe in ready:
        worker = pool[pipe]  # pyright: ignore[reportArgumentType]
        try:
            yield worker, worker.pipe.recv()
        except EOFError:
            worker.process.join()
            yield worker, _death(worker.process.exitcode or 0)
    for worker in [worker for worker in pool.values() if worker.deadline <= time.monotonic()]:
        if worker.pipe not in ready:
            yield worker, TOO_LONG


def _death(status: int) -> str:
    return f"crashed ({signal.Signals(-status).name})" if status < 0 else f"its process ended with status {status}"


def _serve(pipe: Connection, function: Callable[[T], R], items: Sequence[T]) -> None:
    while True:
        try:
            pipe.send(function(items[pipe.recv()]))
        except EOFError:
            return
