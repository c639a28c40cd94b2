"""The contexts of one net: each call in flight has one of its own."""

from __future__ import annotations

import ctypes
import threading

from aiopt.runtime.library import NO_MEMORY, STATUS, NetInfo, library
from aiopt.support.errors import CompileError, LimitError, StateError


class Contexts:
    """A free list of aiopt_ctx that grows when all are in flight. Safe to use from several threads."""

    def __init__(self, net: str, info: NetInfo, weights: int | None, threads: int) -> None:
        """weights: address of the blob; it and `info` outlive this object.

        Makes the first context. Raises CompileError if it cannot be made.
        """
        self._net = net
        self._info = info
        self._weights = weights
        self._threads = threads
        self._changed = threading.Condition()
        self._free: list[int] = [self._create()]
        self._in_flight = 0
        self._closed = False

    def take(self) -> int:
        """The address of a context nobody else uses. Raises AioptError after `close`, CompileError without memory."""
        with self._changed:
            if self._closed:
                raise StateError(f"net '{self._net}' has been closed")
            self._in_flight += 1
            if self._free:
                return self._free.pop()
        try:
            return self._create()
        except BaseException:
            self._returned(None)
            raise

    def give(self, context: int) -> None:
        """Hand back what `take` gave."""
        self._returned(context)

    def close(self) -> None:
        """Destroy all contexts, after the last call in flight has handed back its own."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: self._in_flight == 0)
            while self._free:
                library().aiopt_context_destroy(self._free.pop())

    def _returned(self, context: int | None) -> None:
        with self._changed:
            self._in_flight -= 1
            if context is not None:
                self._free.append(context)
            if self._closed:
                self._changed.notify_all()

    def _create(self) -> int:
        context = ctypes.c_void_p()
        status = library().aiopt_context_create(self._info, self._weights, self._threads, ctypes.byref(context))
        if status != 0 or context.value is None:
            if status == NO_MEMORY:
                raise LimitError(
                    f"net '{self._net}' needs {self._info.arena_bytes} bytes beside its inputs, outputs and "
                    f"{self._threads} threads, which this machine does not give: try smaller shapes"
                )
            reason = STATUS.get(status, f"status {status}")
            raise CompileError(
                f"cannot make a context for net '{self._net}' (arena of {self._info.arena_bytes} bytes, "
                f"{self._threads} threads): {reason}"
            )
        return context.value
