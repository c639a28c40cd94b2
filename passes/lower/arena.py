"""Offsets in one arena for buffers with known lifetimes (pure Python: no IR here).

Time is counted in calls of `@main`, of which those at the same time are one. Two buffers may share memory if no call
needs both. Finding the smallest arena
is NP-hard (dynamic storage allocation), so orders of placement are tried: several greedy ones, a hill climb from each.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

ALIGNMENT = 64  # a cache line, and the widest vector register
_PLACEMENTS = 100_000  # bound on the work of a hill climb: placements of one buffer, about 2 us each
_TRIES = 500


@dataclass(frozen=True)
class Buffer:
    """`size` bytes needed by the calls `first` to `last`, both included."""

    size: int
    first: int
    last: int

    @property
    def aligned(self) -> int:
        return align(self.size)


@dataclass(frozen=True)
class Plan:
    """Byte offsets in the order of the buffers, the bytes they take, and the bytes no plan can do without."""

    offsets: tuple[int, ...]
    peak: int
    lower_bound: int


def align(size: int) -> int:
    """The next multiple of ALIGNMENT."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """The largest sum of aligned sizes that one call needs."""
    return max(live_bytes(buffers), default=0)


def live_bytes(buffers: Sequence[Buffer]) -> list[int]:
    """The aligned bytes each call needs, by call."""
    change = [0] * (max((b.last for b in buffers), default=-1) + 2)
    for buffer in buffers:
        change[buffer.first] += buffer.aligned
        change[buffer.last + 1] -= buffer.aligned
    live, total = [], 0
    for delta in change[:-1]:
        total += delta
        live.append(total)
    return live


def plan(buffers: Sequence[Buffer], seed: int = 0, room: float = 1.0) -> Plan:
    """The best plan found; the same for the same buffers and seed.

    room: times the smallest arena found that one may take in which all buffers lie in the middle of slots.
    """
    if not buffers:
        return Plan((), 0, 0)
    conflicts, sizes = _conflicts(buffers), [buffer.aligned for buffer in buffers]
    bound = lower_bound(buffers)
    candidates: list[_Placed] = []
    for order in _greedy_orders(buffers):
        candidates.append((order, *_place(sizes, conflicts, order)))
        if candidates[-1][2] == bound:
            break
    best = min(candidates, key=lambda candidate: candidate[2])
    rng = random.Random(seed)
    for start in sorted(candidates, key=lambda candidate: candidate[2]):  # the worst start may lead the farthest
        if best[2] == bound:
            break
        best = min(best, _climb(sizes, conflicts, start, bound, rng), key=lambda candidate: candidate[2])
    centred = _centred(sizes, conflicts)
    if centred[1] <= room * best[2] and room > 1:
        return Plan(tuple(centred[0]), centred[1], bound)
    return Plan(tuple(best[1]), best[2], bound)


def _centred(sizes: Sequence[int], conflicts: list[list[int]]) -> tuple[list[int], int]:
    """Slots for buffers that take turns, each in the middle of its slot; offsets and peak.

    Threads divide rows of most results alike, so that the same thread has the lower half of all buffers in a slot.
    """
    slots: list[set[int]] = []
    heights: list[int] = []
    for index in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        number = next((n for n, slot in enumerate(slots) if slot.isdisjoint(conflicts[index])), len(slots))
        if number == len(slots):
            slots.append(set())
            heights.append(sizes[index])
        slots[number].add(index)
    offsets, base = [0] * len(sizes), 0
    for slot, height in zip(slots, heights, strict=True):
        for index in slot:
            offsets[index] = base + (height - sizes[index]) // 2 // ALIGNMENT * ALIGNMENT
        base += height
    return offsets, base


def _greedy_orders(buffers: Sequence[Buffer]) -> list[list[int]]:
    """By size, by size times lifetime, and with the buffers of the fullest call first."""
    live = live_bytes(buffers)
    peak = live.index(max(live))
    indices = range(len(buffers))

    def at_peak(buffer: Buffer) -> bool:
        return buffer.first <= peak <= buffer.last

    def area(buffer: Buffer) -> int:
        return buffer.aligned * (buffer.last - buffer.first + 1)

    return [
        sorted(indices, key=lambda i: (-buffers[i].aligned, buffers[i].first)),
        sorted(indices, key=lambda i: (-area(buffers[i]), buffers[i].first)),
        sorted(indices, key=lambda i: (not at_peak(buffers[i]), -buffers[i].aligned)),
        sorted(indices, key=lambda i: (not at_peak(buffers[i]), buffers[i].first - buffers[i].last)),
    ]


_Placed = tuple[list[int], list[int], int]  # order, offsets, peak


def _climb(sizes: Sequence[int], conflicts: list[list[int]], start: _Placed, bound: int, rng: random.Random) -> _Placed:
    """Move one buffer in the order and keep the move unless the peak grows; often one of those that make the peak."""
    best = start
    for _ in range(min(_TRIES, _PLACEMENTS // len(sizes))):
        order, offsets, peak = best
        highest = [i for i in order if offsets[i] + sizes[i] == peak]
        moved = rng.choice(highest) if rng.random() < 0.5 else rng.choice(order)
        tried = [i for i in order if i != moved]
        tried.insert(rng.randrange(len(order)), moved)
        offsets, peak = _place(sizes, conflicts, tried)
        if peak <= best[2]:
            best = (tried, offsets, peak)
        if peak == bound:
            break
    return best


def _place(sizes: Sequence[int], conflicts: list[list[int]], order: Sequence[int]) -> tuple[list[int], int]:
    """Give each buffer, in this order, the lowest offset at which it meets no conflicting one."""
    offsets = [-1] * len(sizes)
    peak = 0
    for index in order:
        size = sizes[index]
        busy = sorted([(offsets[other], sizes[other]) for other in conflicts[index] if offsets[other] >= 0])
        at = 0
        for start, length in busy:
            if at + size <= start:
                break
            at = max(at, start + length)
        offsets[index] = at
        peak = max(peak, at + size)
    return offsets, peak


def _conflicts(buffers: Sequence[Buffer]) -> list[list[int]]:
    """For each buffer those that some call needs together with it."""
    found: list[list[int]] = [[] for _ in buffers]
    live: list[int] = []
    for index in sorted(range(len(buffers)), key=lambda i: buffers[i].first):
        live = [other for other in live if buffers[other].last >= buffers[index].first]
        for other in live:
            found[index].append(other)
            found[other].append(index)
        live.append(index)
    return found
