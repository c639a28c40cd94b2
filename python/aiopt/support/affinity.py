"""Where threads may run, as users write it."""

from __future__ import annotations

from collections.abc import Sequence

from aiopt.support.errors import OptionError

KINDS = {"auto": 0, "none": 1, "compact": 2}  # enum aiopt_affinity
LIST = 3


def read_affinity(value: str | Sequence[int]) -> tuple[int, list[int]]:
    """An aiopt_affinity, and the CPUs of a list. Raises OptionError.

    value: "auto", "none", "compact", or CPUs: "0,2-3" or numbers.
    """
    if isinstance(value, str) and value in KINDS:
        return KINDS[value], []
    cpus = _read_list(value) if isinstance(value, str) else list(value)
    if not cpus or any(isinstance(cpu, bool) or not isinstance(cpu, int) or cpu < 0 for cpu in cpus):
        raise OptionError(f"affinity is auto, none, compact or CPUs such as 0,2-3, not {value!r}")
    return LIST, cpus


def _read_list(text: str) -> list[int]:
    """CPUs, empty where the text is something else."""
    cpus: list[int] = []
    for word in text.split(","):
        first, dash, last = word.partition("-")
        ends = [first, last if dash else first]
        if not all(end.isascii() and end.isdecimal() and len(end) < 6 for end in ends):
            return []
        cpus += range(int(ends[0]), int(ends[1]) + 1)
    return cpus
