"""Load object code into this process by LLVM's ORC: no linker, no file, about 1 ms."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aiopt.support import libllvm
from aiopt.support.errors import CompileError
from aiopt.support.libllvm import POINTER, SIZE, STRING, check, function

# Compiled code may call libm; whether the interpreter itself brings it differs from one Python to the next.
_ALWAYS = ("libm.so.6",)

_Reporter = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class Jit:
    """Object code in memory. Its undefined symbols are looked up in `libraries`, libm and the process.

    Addresses are good until `close`. Raises CompileError where a library cannot be opened.
    """

    def __init__(self, libraries: Iterable[str | Path] = ()) -> None:
        libllvm.initialize(libllvm.host_target())
        self._reports: list[str] = []
        self._lock = threading.Lock()  # the reports of two lookups must not mix
        # Without a reporter ORC prints to stderr, and there alone names what is missing.
        self._reporter = _Reporter(self._report)
        self._jit: Any = POINTER()
        create = function("LLVMOrcCreateLLJIT", POINTER, POINTER, POINTER)
        check(create(ctypes.byref(self._jit), None), "cannot start ORC")
        try:
            session = function("LLVMOrcLLJITGetExecutionSession", POINTER, POINTER)(self._jit)
            set_reporter = function("LLVMOrcExecutionSessionSetErrorReporter", None, POINTER, _Reporter, POINTER)
            set_reporter(session, self._reporter, None)
            self._dylib = function("LLVMOrcLLJITGetMainJITDylib", POINTER, POINTER)(self._jit)
            self._add_generators([*libraries, *_ALWAYS])
        except BaseException:
            self.close()
            raise

    def add(self, object_bytes: bytes, name: str = "object") -> None:
        """Add an object file. It is linked by the first `address` that needs it."""
        make = function("LLVMCreateMemoryBufferWithMemoryRangeCopy", POINTER, STRING, SIZE, STRING)
        buffer = make(object_bytes, len(object_bytes), name.encode())
        add = function("LLVMOrcLLJITAddObjectFile", POINTER, POINTER, POINTER, POINTER)
        check(add(self._open(), self._dylib, buffer), f"cannot load {name}")  # the buffer is ORC's in any case

    def address(self, symbol: str) -> int:
        """Where an exported symbol of the objects lies. Raises CompileError if it, or one it needs, is missing."""
        found = ctypes.c_uint64()
        lookup = function("LLVMOrcLLJITLookup", POINTER, POINTER, ctypes.POINTER(ctypes.c_uint64), STRING)
        with self._lock:
            self._reports.clear()
            error = lookup(self._open(), ctypes.byref(found), symbol.encode())
            reports = "; ".join(self._reports)
        try:
            check(error, f"cannot link '{symbol}'")
        except CompileError as failure:
            if reports:  # they name the cause, the error only what depends on it
                raise CompileError(f"cannot link '{symbol}': {reports}") from failure
            raise
        return found.value

    def close(self) -> None:
        """Free the code. What was taken from `address` must not be used any more."""
        jit, self._jit = self._jit, None
        if jit:
            check(function("LLVMOrcDisposeLLJIT", POINTER, POINTER)(jit), "cannot free loaded code")

    def _open(self) -> Any:
        if not self._jit:
            raise CompileError("the loaded code has been freed")
        return self._jit

    def _add_generators(self, libraries: list[str | Path]) -> None:
        prefix = function("LLVMOrcLLJITGetGlobalPrefix", ctypes.c_char, POINTER)(self._jit)
        add = function("LLVMOrcJITDylibAddGenerator", None, POINTER, POINTER)
        types = (ctypes.c_char, POINTER, POINTER)  # global prefix, filter, its argument
        for_path = function("LLVMOrcCreateDynamicLibrarySearchGeneratorForPath", POINTER, POINTER, STRING, *types)
        for_process = function("LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess", POINTER, POINTER, *types)
        generator = POINTER()
        for library in libraries:
            error = for_path(ctypes.byref(generator), str(library).encode(), prefix, None, None)
            check(error, f"cannot open the library '{library}'")
            add(self._dylib, generator)
        check(for_process(ctypes.byref(generator), prefix, None, None), "cannot look into the process")
        add(self._dylib, generator)

    def _report(self, _context: int | None, error: int | None) -> None:
        """Called by ORC, on the thread that looks up: keep the text for the exception."""
        message = function("LLVMGetErrorMessage", POINTER, POINTER)(error)
        self._reports.append(ctypes.string_at(message).decode(errors="replace"))
        function("LLVMDisposeErrorMessage", None, POINTER)(message)
