"""Runs a program: what it computes, how many cycles it takes, and whether its semaphores order all it does.

The front end takes one instruction per cycle and puts it into its queue, which holds any number. A queue starts its
next instruction when the one before is done (the matrix queue overlaps them, see timing.py) and what it waits for was
signalled; it signals once it and all before it are done. Loads and stores have a channel each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from aiopt.support.errors import InputError
from aiopt.targets.npu import isa, timing
from aiopt.targets.npu.access import Memory, accesses
from aiopt.targets.npu.encoding import Instruction, Queue
from aiopt.targets.npu.execute import State
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.order import START, Clock, Race, RaceDetector, SignalHistory, join
from aiopt.targets.npu.program import Program, ProgramError
from aiopt.targets.npu.verify import verify


@dataclass
class Result:
    """What a run gave."""

    outputs: dict[str, np.ndarray]
    races: list[Race]
    cycles: int
    busy: dict[Queue, int]  # cycles in which a queue was working
    macs: int  # multiply-adds
    utilisation: float  # of the array: those of all it could have done in that time at the rates of their types
    loaded_bytes: int  # from dram, in whole bursts
    stored_bytes: int
    fence_cycles: list[int]  # the cycle at which each fence, and at last the halt, was passed


def simulate(program: Program, machine: Machine, inputs: Mapping[str, np.ndarray]) -> Result:
    """Run a program; races are in the result.

    Raises ProgramError if the verifier finds something or the program deadlocks, InputError if inputs do not fit.
    """
    if problems := verify(program, machine):
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ProgramError(problems[0] + more)
    dram = program.dram()
    _fill(program, dram, inputs)
    run = _Run(machine, dram, program.instructions)
    run.run()
    return run.result({tensor.name: tensor.view(dram).copy() for tensor in program.outputs})


def _fill(program: Program, dram: np.ndarray, inputs: Mapping[str, np.ndarray]) -> None:
    known = {tensor.name: tensor for tensor in program.inputs}
    for name in inputs:
        if name not in known:
            raise InputError(f"the program has no input '{name}' (it has: {', '.join(known) or 'none'})")
    for name, tensor in known.items():
        if name not in inputs:
            raise InputError(f"input '{name}' is missing")
        array = inputs[name]
        if array.shape != tensor.type.shape or array.dtype != tensor.type.dtype:
            raise InputError(f"input '{name}' must be {tensor.type}, but is {array.dtype} {list(array.shape)}")
        tensor.view(dram)[...] = array


@dataclass
class _Line:
    """One queue: what it has yet to do, and when it can."""

    waiting: deque[tuple[int, int, Instruction]] = field(default_factory=deque)  # number, cycle of its arrival
    clock: Clock = START  # what is known behind the last instruction
    started: int = 0  # cycle of the last start
    free: int = 0  # cycle from which the next may start
    end: int = 0  # cycle at which all is done
    busy: int = 0


class _Run:
    def __init__(self, machine: Machine, dram: np.ndarray, instructions: list[Instruction]) -> None:
        self._machine = machine
        self._instructions = instructions
        self._state = State(machine, dram)
        self._lines = {queue: _Line() for queue in Queue}
        self._semaphores: dict[int, SignalHistory] = {}
        sizes = {Memory.DRAM: dram.size, Memory.SPAD: machine.spad_bytes, Memory.ACC: machine.acc_bytes}
        self._detector = RaceDetector(sizes)
        self._weights_ready = 0  # cycle at which the shadow set is loaded
        self._macs = self._mac_cycles = 0
        self._moved = {Queue.LOAD: 0, Queue.STORE: 0}
        self._cycle = 0  # of the front end
        self._fence_cycles: list[int] = []

    def run(self) -> None:
        """Execute all."""
        for number, instruction in enumerate(self._instructions):
            self._cycle += 1
            queue = instruction.runs_on()
            if isinstance(instruction, isa.SemInit):
                self._semaphores[instruction.semaphore] = SignalHistory(instruction.value)
            elif queue is not None:
                self._lines[queue].waiting.append((number, self._cycle, instruction))
            else:  # fence and halt
                self._drain()
                self._fence_cycles.append(self._cycle)

    def _drain(self) -> None:
        """Let all queues finish, and each know of all."""
        while any(line.waiting for line in self._lines.values()):
            if not any(self._advance(queue) for queue in Queue):
                raise ProgramError(f"deadlock: {'; '.join(self._stuck())}")
        clock, end = START, self._cycle
        for line in self._lines.values():
            clock, end = join(clock, line.clock), max(end, line.end)
        self._cycle = end
        for line in self._lines.values():
            line.clock, line.free, line.started = clock, end, end

    def _advance(self, queue: Queue) -> bool:
        """Run one queue as far as it goes now; False if it cannot go on."""
        line, moved = self._lines[queue], False
        while line.waiting:
            number, arrival, instruction = line.waiting[0]
            if any(self._semaphores[t.semaphore].available() < t.count for t in instruction.waits):
                return moved
            line.waiting.popleft()
            self._step(queue, line, number, arrival, instruction)
            moved = True
        return moved

    def _step(self, queue: Queue, line: _Line, number: int, arrival: int, op: Instruction) -> None:
        start = max(line.started, arrival)
        for token in op.waits:
            known, time = self._semaphores[token.semaphore].wait(token)
            line.clock, start = join(line.clock, known), max(start, time)
        self._time(line, op, start)
        self._count(queue, op)
        self._detector.see(number, queue, line.clock, accesses(op))
        self._state.execute(op)
        line.clock = tuple(n + (q == queue) for q, n in enumerate(line.clock))
        for token in op.signals:
            self._semaphores[token.semaphore].signal(token.count, line.clock, line.end)

    def _time(self, line: _Line, op: Instruction, start: int) -> None:
        """Place an instruction whose waits are over at `start`."""
        # Weights are loaded beside the stream.
        start = max(start, self._weights_ready if isinstance(op, isa.LoadWeights) else line.free)
        if isinstance(op, isa.MatMul) and op.swap:
            start = max(start, self._weights_ready)
        end = start + timing.duration(op, self._machine)
        line.busy += max(end - max(start, line.end), 0)
        line.started, line.end = start, max(line.end, end)
        if isinstance(op, isa.LoadWeights):
            self._weights_ready = end
        else:
            line.free = start + timing.stream_cycles(op, self._machine) if isinstance(op, isa.MatMul) else line.end

    def _count(self, queue: Queue, op: Instruction) -> None:
        if isinstance(op, isa.MatMul):
            macs = op.rows * op.inner * op.columns
            self._macs += macs
            self._mac_cycles += macs * timing.row_cycles(op.element, self._machine)
        elif isinstance(op, (isa.DmaLoad, isa.DmaStore)):
            dram = next(access for access in accesses(op) if access.memory is Memory.DRAM)
            self._moved[queue] += timing.burst_bytes(dram, self._machine.dma_burst)

    def _stuck(self) -> Iterator[str]:
        for queue, line in self._lines.items():
            if line.waiting:
                number, _, op = line.waiting[0]
                tokens = ((t, self._semaphores[t.semaphore].available()) for t in op.waits)
                token, have = next((t, have) for t, have in tokens if have < t.count)
                yield (
                    f"{queue.name.lower()} is at instruction {number} ({op.mnemonic}), which needs {token.count} of "
                    f"s{token.semaphore}, but it holds {have}"
                )

    def result(self, outputs: dict[str, np.ndarray]) -> Result:
        """What came of it."""
        cells = self._machine.rows * self._machine.columns
        return Result(
            outputs=outputs,
            races=self._detector.races,
            cycles=self._cycle,
            busy={queue: line.busy for queue, line in self._lines.items()},
            macs=self._macs,
            utilisation=self._mac_cycles / (cells * self._cycle),
            loaded_bytes=self._moved[Queue.LOAD],
            stored_bytes=self._moved[Queue.STORE],
            fence_cycles=self._fence_cycles,
        )
