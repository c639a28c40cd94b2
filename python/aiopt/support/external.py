"""Where the external data of a model may lie: in the model's folder, whatever a model from elsewhere says."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from aiopt.support.errors import ExternalDataError, OutsideError


def locate(model: Path, location: str) -> Path:
    """The file that a model names as `location`, every link in its path followed.

    It lies in the folder of the model, or in that of the file the model's own name is a link to: the caches of hubs
    keep all files of a model in one store, under names made of their contents, and show them as links.
    Errors: OutsideError if it lies elsewhere, ExternalDataError if it is no regular file or there is none.
    """
    pure = PurePosixPath(location)
    if not location or "\0" in location or pure.is_absolute() or ".." in pure.parts:
        raise OutsideError(
            f"'{model}' names the file {location!r} for its data: only files in the model's folder are read, by names "
            "without '..'"
        )
    path = model.parent / location
    real = Path(os.path.realpath(path))
    if not any(real.is_relative_to(folder) for folder in _folders(model)):
        raise OutsideError(
            f"'{model}' names the file '{location}' for its data, a link that leads out of the model's folder to "
            f"'{real}': copy the file there if you trust the model"
        )
    if not real.is_file():
        found = "is no regular file" if real.exists() else "is not there"
        raise ExternalDataError(f"cannot read the external data of '{model}': '{path}' {found}")
    return real


def _folders(model: Path) -> tuple[Path, Path]:
    return Path(os.path.realpath(model.parent)), Path(os.path.realpath(model)).parent
