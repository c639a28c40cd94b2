"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from aiopt.support.errors import OutputError, OverwriteError, UnreadableError

Data = bytes | Sequence[bytes | memoryview]  # or parts that are written one after the other


def read_input(path: str | Path) -> bytes:
    """The bytes of a file, `-` being the standard input. Raises ModelError that names the file."""
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with NUL
        raise UnreadableError(f"cannot read '{path}': {getattr(error, 'strerror', error)}") from error


def write_output(path: Path | None, data: Data) -> None:
    """Write a file, None being the standard output.

    Raises OutputError, and an older file of that name then stays as it was; BrokenPipeError if the reader of the
    standard output went away.
    """
    if path is not None and not is_special(path):
        with staged(path, data):
            return
    with _named(path):
        if path is not None:
            with open(path, "wb") as file:
                file.writelines(_parts(data))
        else:
            sys.stdout.buffer.writelines(_parts(data))
            sys.stdout.buffer.flush()


@contextmanager
def staged(path: Path, data: Data) -> Iterator[None]:
    """Write a file that takes its name at the end of the `with` block, and disappears if the block fails.

    Raises OutputError; an older file of that name then stays as it was.
    """
    final = Path(os.path.realpath(path))
    part = final.with_name(f"{final.name}.{os.getpid()}-{threading.get_native_id()}.part")
    try:
        with _named(path):
            if final.is_dir():
                raise IsADirectoryError(errno.EISDIR, "it is a directory")
            # Exclusive: a link somebody planted under this name is not followed.
            with open(part, "xb") as file:
                file.writelines(_parts(data))
        yield
        with _named(path):
            part.replace(final)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def is_special(path: Path) -> bool:
    """True for a device or a pipe, which is written to and not replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def is_same_file(path: Path, other: Path) -> bool:
    """True if both names are those of one file, through links too; False if one of them is not there."""
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def refuse_sources(output: Path, sources: Iterable[Path]) -> None:
    """Raise OutputError if writing `output` would destroy one of these files. Devices and pipes may be both."""
    for source in sources:
        if is_same_file(output, source) and not is_special(source):
            raise OverwriteError(f"cannot write '{output}': the model is read from it; give the output another name")


def _parts(data: Data) -> Sequence[bytes | memoryview]:
    return [data] if isinstance(data, bytes) else data


@contextmanager
def _named(path: Path | None) -> Iterator[None]:
    """Turn an OSError into an OutputError that names the place."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        place = f"'{path}'" if path else "the standard output"
        raise OutputError(f"cannot write {place}: {error.strerror}") from error
