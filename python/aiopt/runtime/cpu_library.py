"""Libraries of other packages that nets may call (ADR 030): where they lie, and how the runtime comes to have them."""

from __future__ import annotations

import ctypes
import importlib.metadata
from pathlib import Path

from aiopt.runtime.library import library, missing_cpu_feature
from aiopt.support.errors import MissingPackageError

LIBRARY_FEATURE = "library-"  # a net that calls OpenBLAS has the feature library-openblas

# library -> the package that brings it, and the file in it
_PACKAGES = {
    "openblas": ("scipy-openblas32", "libscipy_openblas.so"),
    "onednn": ("onednn-cpu-gomp", "libdnnl.so.3"),
}
_ERROR_BYTES = 1024


def missing_feature(features: str) -> str | None:
    """The first of a net's features that this machine lacks, once the libraries among them have been opened.

    Raises MissingPackageError for a library that is known, but not to be had.
    """
    for feature in features.split(","):
        name = feature.removeprefix(LIBRARY_FEATURE)
        if name != feature and name in _PACKAGES:
            open_library(name)
    return missing_cpu_feature(features)


def open_library(name: str) -> None:
    """Let the runtime have a library. Raises MissingPackageError if it is not installed or cannot be loaded."""
    package, file = _PACKAGES[name]
    path = _find(package, file)
    if path is None:
        raise MissingPackageError(f"CPU library '{name}' needs a package that is not installed: pip install {package}")
    error = ctypes.create_string_buffer(_ERROR_BYTES)
    if library().aiopt_library_open(name.encode(), str(path).encode(), error, _ERROR_BYTES) != 0:
        reason = error.value.decode(errors="replace")
        raise MissingPackageError(f"CPU library '{name}' cannot be loaded ({reason}): install {package} again")


def _find(package: str, file: str) -> Path | None:
    try:
        files = importlib.metadata.files(package) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    places = (Path(str(found.locate())).resolve() for found in files if found.name == file)
    return next((place for place in places if place.is_file()), None)
