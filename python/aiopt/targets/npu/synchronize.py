"""Instructions in the order of one thread to a program of four queues.

Wherever two queues touch a byte that one of them writes, the later instruction waits for the earlier one, unless that
is known to be done by then: a wait that orders nothing is not there, so a program that loses one is wrong, and
reported. What is left between two queues is strictly increasing at both ends, so one semaphore for each pair of queues
is enough, and each wait takes one of what it holds: credits of a ring of buffers are what comes of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from aiopt.targets.npu.access import Memory, accesses
from aiopt.targets.npu.encoding import Instruction, Queue, Token
from aiopt.targets.npu.isa import SemInit
from aiopt.targets.npu.order import START, Clock, LastAccesses, join


def synchronize(body: Sequence[Instruction], sizes: dict[Memory, int]) -> list[Instruction]:
    """The instructions with the waits and signals that keep their order; before them, the semaphores.

    `body` has none of either, and only instructions of queues; `sizes` are those of the memories in bytes.
    """
    pairs: dict[tuple[Queue, Queue], int] = {}  # signaller and waiter -> semaphore
    waits: list[list[Token]] = [[] for _ in body]
    signals: list[list[Token]] = [[] for _ in body]
    for first, second in _orders(body, sizes):
        ends = _queue(body[first]), _queue(body[second])
        token = Token(pairs.setdefault(ends, len(pairs)))
        signals[first].append(token)
        waits[second].append(token)
    semaphores = [SemInit(semaphore=s, signaller=ends[0], waiter=ends[1]) for ends, s in pairs.items()]
    return semaphores + [
        dataclasses.replace(op, waits=tuple(taken), signals=tuple(given))
        for op, taken, given in zip(body, waits, signals, strict=True)
    ]


def _orders(body: Sequence[Instruction], sizes: dict[Memory, int]) -> list[tuple[int, int]]:
    """Pairs of instructions of two queues, of which the first must be done before the second starts; no more."""
    last = LastAccesses(sizes)
    done: dict[Queue, list[Clock]] = {queue: [START] for queue in Queue}  # known once the instruction there is done
    numbers: dict[Queue, list[int]] = {queue: [] for queue in Queue}
    found: list[tuple[int, int]] = []
    for number, op in enumerate(body):
        queue, touched = _queue(op), accesses(op)
        known = done[queue][-1]
        needed: dict[Queue, int] = {}  # queue -> place
        for access in touched:
            for other, _, region in last.conflicts(queue, access):
                latest = int(region.max())
                if latest > max(known[other], needed.get(other, 0)):
                    needed[other] = latest
        for other, place in needed.items():
            if not any(done[third][needed[third]][other] >= place for third in needed if third != other):
                found.append((numbers[other][place - 1], number))
                known = join(known, done[other][place])
        numbers[queue].append(number)
        last.note(queue, len(numbers[queue]), touched)
        done[queue].append(tuple(n + (q == queue) for q, n in enumerate(known)))
    return found


def _queue(op: Instruction) -> Queue:
    queue = op.runs_on()
    assert queue is not None, f"{op.mnemonic} goes to no queue"
    return queue
