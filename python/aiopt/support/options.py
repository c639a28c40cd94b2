"""Environment variables that change how aiopt behaves."""

import os
from pathlib import Path

from aiopt.support.errors import OptionError


def traceback_wanted() -> bool:
    """AIOPT_TRACEBACK=1: show the traceback of an internal error instead of one line."""
    return os.environ.get("AIOPT_TRACEBACK", "0") not in ("", "0")


def cache_wanted() -> bool:
    """AIOPT_CACHE=0: neither look for compiled nets in the cache nor put any there."""
    return os.environ.get("AIOPT_CACHE", "1") not in ("", "0")


def net_cache_folder() -> Path:
    """AIOPT_CACHE_DIR: where compiled nets are cached (default: $XDG_CACHE_HOME/aiopt/nets or ~/.cache/aiopt/nets)."""
    given = os.environ.get("AIOPT_CACHE_DIR")
    return Path(given) if given else cache_folder() / "nets"


def net_cache_bytes() -> int:
    """AIOPT_CACHE_BYTES: how much the cached nets may take together (default: 2 GiB). Raises OptionError."""
    text = os.environ.get("AIOPT_CACHE_BYTES") or str(2 << 30)
    if not text.isdecimal():
        raise OptionError(f"AIOPT_CACHE_BYTES is a whole number of bytes, not '{text}'")
    return int(text)


def kernel_cache_folder() -> Path:
    """Where compiled kernels are cached: in the folder of AIOPT_CACHE_DIR if it is set, else beside the nets."""
    given = os.environ.get("AIOPT_CACHE_DIR")
    return (Path(given) if given else cache_folder()) / "kernels"


def affinity() -> str | None:
    """AIOPT_AFFINITY: where the threads of nets run; see aiopt.set_affinity."""
    return os.environ.get("AIOPT_AFFINITY") or None


def cache_folder() -> Path:
    """$XDG_CACHE_HOME/aiopt or ~/.cache/aiopt."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "aiopt"
