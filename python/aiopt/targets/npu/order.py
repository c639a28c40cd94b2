"""What happens before what, and accesses that nothing orders.

A vector clock counts, for each queue, its instructions that are known to be done. An instruction knows those before it
in its queue, those before the last fence, and those before the signals that its waits need. Since one queue signals a
semaphore and one waits for it, both in order, which signal a wait needs does not depend on timing: a race is found
whether or not it shows in this run.

For each byte and queue, the last read and the last write are kept. If the last one happened before, so did all others
of its queue; if not, it is a race.

Source: Lamport 1978; Mattern 1988; the check is that of DJIT+ (Pozniansky, Schuster 2003).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from aiopt.targets.npu.access import Access, Memory
from aiopt.targets.npu.encoding import Queue, Token

Clock = tuple[int, ...]
START: Clock = (0,) * len(Queue)
_GRANULE = {Memory.DRAM: 1, Memory.SPAD: 1, Memory.ACC: 4}  # bytes; accumulators are only used in elements


@dataclass(frozen=True)
class Race:
    """Two instructions (by number) touch a byte, at least one writes it, and nothing orders them."""

    first: int
    first_writes: bool
    second: int  # the larger number
    second_writes: bool
    memory: Memory
    address: int  # of a byte both touch

    def __str__(self) -> str:
        verbs = ["writes" if writes else "reads" for writes in (self.first_writes, self.second_writes)]
        return (
            f"race: instruction {self.first} {verbs[0]} and instruction {self.second} {verbs[1]} {self.memory.value} "
            f"0x{self.address:x}, and nothing orders them"
        )


def join(a: Clock, b: Clock) -> Clock:
    """What either knows."""
    return tuple(map(max, a, b))


@dataclass
class SignalHistory:
    """The signals of one semaphore so far."""

    value: int  # what it began with
    totals: list[int] = field(default_factory=list)  # signalled so far, after each signal
    clocks: list[Clock] = field(default_factory=list)  # what the signalling instruction knew once it was done
    times: list[int] = field(default_factory=list)  # the cycle of each signal
    taken: int = 0

    def signal(self, count: int, clock: Clock, time: int) -> None:
        """Add `count`; `time` is never earlier than that of the signal before."""
        self.totals.append((self.totals[-1] if self.totals else 0) + count)
        self.clocks.append(clock)
        self.times.append(time)

    def available(self) -> int:
        """What a wait could take now."""
        return self.value + (self.totals[-1] if self.totals else 0) - self.taken

    def wait(self, token: Token) -> tuple[Clock, int]:
        """Take what is available; give what the waiting instruction knows from it, and the cycle it may start at."""
        self.taken += token.count
        needed = self.taken - self.value
        if needed <= 0:
            return START, 0
        index = bisect_left(self.totals, needed)
        return self.clocks[index], self.times[index]


class LastAccesses:
    """For each byte and queue, the last read and the last write, as places in the queue (the first is 1)."""

    def __init__(self, sizes: dict[Memory, int]) -> None:
        self._sizes = sizes
        self._last: dict[Memory, dict[tuple[Queue, bool], np.ndarray]] = {memory: {} for memory in Memory}

    def conflicts(self, queue: Queue, access: Access) -> Iterator[tuple[Queue, bool, np.ndarray]]:
        """What other queues did to the bytes of an access that has to be ordered with it.

        The queue, whether it wrote, and the places, an array [rows, granules of a row]; 0 where it did nothing.
        """
        for (other, wrote), last in self._last[access.memory].items():
            if other != queue and (wrote or access.write):
                yield other, wrote, _region(last, access)

    def note(self, queue: Queue, place: int, found: list[Access]) -> None:
        """The instruction at a place of a queue makes these accesses."""
        for access in found:
            _region(self._record(access.memory, queue, access.write), access)[...] = place

    def _record(self, memory: Memory, queue: Queue, write: bool) -> np.ndarray:
        records = self._last[memory]
        if (queue, write) not in records:
            # Zeros that nobody touched take no memory.
            records[queue, write] = np.zeros(self._sizes[memory] // _GRANULE[memory], np.int32)
        return records[queue, write]


def _region(record: np.ndarray, access: Access) -> np.ndarray:
    granule, size = _GRANULE[access.memory], record.itemsize
    shape = (access.rows, access.row_bytes // granule)
    strides = (access.stride // granule * size, size)
    return np.ndarray(shape, record.dtype, record, access.address // granule * size, strides)


class RaceDetector:
    """Sees all accesses, in an order that respects what happens before what."""

    def __init__(self, sizes: dict[Memory, int]) -> None:
        self._last = LastAccesses(sizes)
        self._numbers: dict[Queue, list[int]] = {queue: [] for queue in Queue}  # of the instructions of each queue
        self.races: list[Race] = []

    def see(self, number: int, queue: Queue, clock: Clock, found: list[Access]) -> None:
        """Take the accesses of the next instruction of a queue, which knows `clock`."""
        self._numbers[queue].append(number)
        for access in found:
            for other, wrote, region in self._last.conflicts(queue, access):
                if int(region.max()) > clock[other]:
                    self._report(number, access, other, wrote, region)
        self._last.note(queue, len(self._numbers[queue]), found)

    def _report(self, number: int, access: Access, other: Queue, wrote: bool, region: np.ndarray) -> None:
        row, column = np.unravel_index(int(region.argmax()), region.shape)
        address = access.address + int(row) * access.stride + int(column) * _GRANULE[access.memory]
        (first, writes), (second, writes_too) = sorted(
            [(self._numbers[other][int(region.max()) - 1], wrote), (number, access.write)]
        )
        self.races.append(Race(first, writes, second, writes_too, access.memory, address))
