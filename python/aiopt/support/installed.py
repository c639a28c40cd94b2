"""What is installed, without importlib.metadata, which takes 30 ms to load."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any


def package_folders(package: str) -> list[Path]:
    """Where the modules of a package lie; none if it is not installed. It is not imported, its parent packages are."""
    spec = importlib.util.find_spec(package)
    return [Path(place) for place in (spec.submodule_search_locations if spec else None) or ()]


def wheel_identity(package: str, wheel: str) -> list[Any]:
    """What changes when the wheel a package came in is another: its version, and when it was installed."""
    found: list[Any] = []
    for folder in package_folders(package):
        found.append(folder.stat().st_mtime_ns)
        found += sorted(path.name for path in folder.parent.glob(f"{wheel}-*.dist-info"))
    return found


def mentions_entry_points(group: str) -> bool:
    """True if an installed distribution may have entry points of a group: a few ms, where asking for them takes 30."""
    files = (file for place in sys.path for file in Path(place).glob("*-info/entry_points.txt"))
    return any(f"[{group}]" in file.read_text(errors="replace") for file in files)
