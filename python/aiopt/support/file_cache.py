"""A folder of files by key that keeps within its bounds."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from aiopt.support.errors import OutputError

_ABANDONED_SECONDS = 24 * 3600  # a file that is still unfinished then has lost its writer


class FileCache:
    """Files named by key. Safe for many processes at once if whoever writes one lets it appear whole (support.files).

    most_bytes: `evict` removes the files not used for longest until all take no more than this.
    """

    def __init__(self, folder: Path, suffix: str, most_bytes: int) -> None:
        self._folder = folder
        self._suffix = suffix
        self._most_bytes = most_bytes

    def path(self, key: str) -> Path:
        """Where the file of a key is, or would be."""
        return self._folder / f"{key}{self._suffix}"

    def make_folder(self) -> None:
        """Raises OutputError if it cannot be made."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the cache '{self._folder}': {error.strerror}") from error

    def touch(self, key: str) -> None:
        """Let the file of a key count as used now."""
        with contextlib.suppress(OSError):  # gone, or not ours: it still counts as old then, and nothing more
            os.utime(self.path(key))

    def evict(self) -> None:
        """Keep to the bound. Other processes may do the same at the same time: a file that is gone is no error."""
        used = 0
        for seconds, size, path in sorted(self._files(), reverse=True):
            used += size
            abandoned = path.suffix != self._suffix and time.time() - seconds > _ABANDONED_SECONDS
            if abandoned or (used > self._most_bytes and path.suffix == self._suffix):
                path.unlink(missing_ok=True)

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """Time of last use, bytes, path."""
        for path in self._folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                if stat.S_ISREG(status.st_mode):
                    yield status.st_mtime, status.st_size, path
