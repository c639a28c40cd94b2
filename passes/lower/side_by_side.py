"""Which calls of short kernels run at the same time (no IR here)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aiopt.passes.effects import Effects

_NEAR = 16  # calls that are looked at after a first one: farther ones would keep buffers alive for long
_MOST = 16  # calls in a region


@dataclass(frozen=True)
class Task:
    """A call; nanoseconds: of a kernel that runs on one thread, None for one that is split among them."""

    nanoseconds: int | None
    effects: Effects


def find_regions(tasks: Sequence[Task], cores: int, cost: int) -> list[list[int]]:
    """Groups of calls, by number, that do not depend on each other or on what lies between them.

    In a group's order each call can be moved right behind the one before it. A group saves more than `cost` nanoseconds
    on this many cores.
    """
    regions: list[list[int]] = []
    taken: set[int] = set()
    for first in range(len(tasks)):
        if first in taken or tasks[first].nanoseconds is None:
            continue
        members = _members(tasks, first, taken)
        if _saved([tasks[i].nanoseconds or 0 for i in members], cores) > cost:
            regions.append(members)
            taken.update(members)
    return regions


def _members(tasks: Sequence[Task], first: int, taken: set[int]) -> list[int]:
    """The first call and those after it that can stand beside it; calls of other groups stand before them all."""
    members, between = [first], []
    for number in range(first + 1, min(first + 1 + _NEAR, len(tasks))):
        if number in taken or len(members) == _MOST:
            continue
        task = tasks[number]
        is_free = all(task.effects.is_independent(tasks[other].effects) for other in [*members, *between])
        if task.nanoseconds is not None and is_free:
            members.append(number)
        else:
            between.append(number)
    return members


def _saved(times: list[int], cores: int) -> int:
    """Nanoseconds, if the longest are given out first, each to the core that is free first."""
    busy = [0] * cores
    for time in sorted(times, reverse=True):
        busy[busy.index(min(busy))] += time
    return sum(times) - max(busy)
