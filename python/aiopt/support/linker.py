"""The system's linker, for those who want a net as a file of their own program."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from aiopt.support.errors import LinkError, MissingPackageError

_LIBM = "-l:libm.so.6"


def shared_object(objects: Sequence[bytes]) -> bytes:
    """Link objects into a shared object. Raises OptionError if there is no linker, CompileError if it fails."""
    return _link(objects, ["-shared"], ["-lm"], [*_library_folders(), "--as-needed", _LIBM])


def joined_object(objects: Sequence[bytes]) -> bytes:
    """Link objects into one that can be linked further. One is returned as it is; else errors as above."""
    return objects[0] if len(objects) == 1 else _link(objects, ["-r"], ["-nostdlib"], [])


def _link(objects: Sequence[bytes], options: list[str], for_cc: list[str], for_ld: list[str]) -> bytes:
    compiler, linker = shutil.which("cc"), shutil.which("ld")
    if compiler is None and linker is None:
        raise MissingPackageError(
            "linking needs cc or ld, and neither is on PATH: install a C compiler; without one there are --emit=aio "
            "and the command aiopt with --emit=obj"
        )
    tool, libraries = (compiler, for_cc) if compiler else (linker, for_ld)
    with tempfile.TemporaryDirectory(prefix="aiopt-link-") as folder:
        files = [Path(folder) / f"{position}.o" for position in range(len(objects))]
        for file, code in zip(files, objects, strict=True):
            file.write_bytes(code)
        output = Path(folder) / "linked"
        command = [tool, *options, "-z", "noexecstack", "-o", output, *files, *libraries]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise LinkError(f"{tool} cannot link the net: {reason}")
        return output.read_bytes()


def _library_folders() -> list[str]:
    """Where ld, which has no idea of its own as cc has, may find libm."""
    multiarch = sysconfig.get_config_var("MULTIARCH")
    folders = [f"/lib/{multiarch}", f"/usr/lib/{multiarch}"] if multiarch else []
    return [f"-L{folder}" for folder in [*folders, "/lib64", "/usr/lib64", "/lib", "/usr/lib"]]
