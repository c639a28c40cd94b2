"""Environment variables that change how aiopt behaves."""

import os


def traceback_wanted() -> bool:
    """AIOPT_TRACEBACK=1: show the traceback of an internal error instead of one line."""
    return os.environ.get("AIOPT_TRACEBACK", "0") not in ("", "0")
