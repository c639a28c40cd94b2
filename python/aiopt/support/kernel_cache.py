"""Compiled kernels kept on disk, by the content of all that they depend on."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from typing import Any

from aiopt.support import options
from aiopt.support.errors import OutputError
from aiopt.support.file_cache import FileCache
from aiopt.support.files import write_output

_CHECKSUM_BYTES = hashlib.sha256().digest_size
_SHARE = 8  # kernels may take one part in so many of what nets may take, beside these


class KernelCache:
    """The kernels of one compilation: from disk where they are there. Counts both kinds. Safe for many threads."""

    def __init__(self, files: FileCache | None = None) -> None:
        """Without files nothing is kept or counted."""
        self._files = files
        self._lock = threading.Lock()
        self._hits = self._misses = 0
        self._error = ""

    @staticmethod
    def default() -> KernelCache:
        """The cache the environment names (aiopt.support.options). Raises OptionError."""
        files = FileCache(options.kernel_cache_folder(), ".o", options.net_cache_bytes() // _SHARE)
        return KernelCache(files)

    def get_or_make(self, facts: Any, make: Callable[[], bytes]) -> bytes:
        """The code that `make` would make of these facts (of JSON's types): they must be all it depends on."""
        if self._files is None:
            return make()
        key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:40]
        code = self._read(self._files, key)
        with self._lock:
            self._hits += code is not None
            self._misses += code is None
        if code is None:
            code = make()
            self._write(self._files, key, code)
        return code

    def finish(self) -> dict[str, Any]:
        """Keep the cache within its bound; for the report: hits, misses, and the error if kernels were not kept."""
        if self._files is not None and self._misses and not self._error:
            self._files.evict()
        counts: dict[str, Any] = {"hits": self._hits, "misses": self._misses}
        return {**counts, "error": self._error} if self._error else counts

    def _read(self, files: FileCache, key: str) -> bytes | None:
        """A file that is missing or damaged is none."""
        try:
            data = files.path(key).read_bytes()
        except OSError:
            return None
        checksum, code = data[:_CHECKSUM_BYTES], data[_CHECKSUM_BYTES:]
        if hashlib.sha256(code).digest() != checksum:
            return None
        files.touch(key)
        return code

    def _write(self, files: FileCache, key: str, code: bytes) -> None:
        try:
            files.make_folder()
            write_output(files.path(key), [hashlib.sha256(code).digest(), code])
        except OutputError as error:  # the code is good; that it could not be kept is in the report
            self._error = str(error)
