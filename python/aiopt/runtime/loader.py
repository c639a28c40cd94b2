"""Load object code into this process: by the runtime library's own linker, in well under a millisecond."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from aiopt.runtime.library import Bytes, library
from aiopt.support.errors import CompileError

_ERROR_BYTES = 1024


class LoadedCode:
    """Relocatable objects, linked with each other, libm and what the process has. Addresses are good until `close`."""

    def __init__(self, objects: Sequence[bytes], name: str = "objects") -> None:
        """Link the objects; their bytes are not kept. Raises CompileError `cannot load NAME: reason`."""
        files = (Bytes * len(objects))(*[Bytes(code, len(code)) for code in objects])
        handle = ctypes.c_void_p()
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        if library().aiopt_object_load(files, len(objects), ctypes.byref(handle), error, _ERROR_BYTES):
            raise CompileError(f"cannot load {name}: {error.value.decode(errors='replace')}")
        self._name = name
        self._handle = handle.value

    def address(self, symbol: str) -> int:
        """Where a global symbol of the objects lies. Raises CompileError if they have none of this name."""
        if self._handle is None:
            raise CompileError(f"{self._name}: the loaded code has been freed")
        found = library().aiopt_object_symbol(self._handle, symbol.encode())
        if not found:
            raise CompileError(f"{self._name} has no symbol '{symbol}'")
        return found

    def close(self) -> None:
        """Free the code. What was taken from `address` must not be used any more."""
        handle, self._handle = self._handle, None
        if handle is not None:
            library().aiopt_object_unload(handle)
