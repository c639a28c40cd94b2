"""What can be said of a program without running it: sizes, bounds, alignment, semaphores, weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from aiopt.targets.npu import isa
from aiopt.targets.npu.access import Access, Memory, accesses
from aiopt.targets.npu.encoding import SEMAPHORES, Instruction, Queue, Token
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.program import Program


def verify(program: Program, machine: Machine) -> list[str]:
    """All that is wrong with a program, one line each; nothing if it may run."""
    found: list[str] = []
    if program.machine_hash != machine.hash():
        found.append(f"the program was made for machine '{program.machine}', which is not this '{machine.name}'")
    sizes = {Memory.DRAM: program.dram_bytes, Memory.SPAD: machine.spad_bytes, Memory.ACC: machine.acc_bytes}
    semaphores, weights = _Semaphores(), _Weights()
    for index, instruction in enumerate(program.instructions):
        problems = [
            *_place_problems(index, program.instructions),
            *_size_problems(instruction, machine),
            *_access_problems(instruction, sizes),
            *semaphores.take(instruction),
            *weights.take(instruction),
        ]
        found += [f"instruction {index} ({instruction.mnemonic}): {problem}" for problem in problems]
    if not program.instructions or not isinstance(program.instructions[-1], isa.Halt):
        found.append("the last instruction must be halt")
    return found + semaphores.unbalanced()


def _place_problems(index: int, instructions: list[Instruction]) -> Iterator[str]:
    instruction = instructions[index]
    if isinstance(instruction, isa.Halt) and index != len(instructions) - 1:
        yield "only the last instruction may be halt"
    if isinstance(instruction, isa.SemInit):
        before = instructions[index - 1] if index else None
        if before is not None and not isinstance(before, (isa.SemInit, isa.Fence)):
            yield "must stand at the start, or behind a fence or another sem_init"


def _size_problems(op: Instruction, machine: Machine) -> Iterator[str]:
    """Operands that are empty, larger than the array, or of a type the instruction does not have."""
    fields = ("rows", "columns", "inner", "row_bytes")
    for name in fields:
        if getattr(op, name, 1) == 0:
            yield f"{name} must be 1 or more, but is 0"
    if isinstance(op, isa.LoadWeights):
        yield from _above("rows", op.rows, machine.rows)
        yield from _above("columns", op.columns, machine.columns)
        if op.element not in (isa.Element.I8, isa.Element.F32):
            yield f"weights are i8 or f32, not {op.element.name.lower()}"
    elif isinstance(op, isa.MatMul):
        yield from _above("inner", op.inner, machine.rows)
        yield from _above("columns", op.columns, machine.columns)
        if op.element == isa.Element.I32:
            yield "the left operand is i8, u8 or f32, not i32"
    elif isinstance(op, isa.Vec):
        if op.element not in (isa.Element.I32, isa.Element.F32):
            yield f"elements are i32 or f32, not {op.element.name.lower()}"
        elif op.element == isa.Element.I32 and op.constant and not _is_int32(op.immediate):
            yield f"immediate must be a whole number that fits i32, but is {op.immediate}"
    elif isinstance(op, isa.Requant):
        if op.element not in (isa.Element.I8, isa.Element.U8):
            yield f"results are i8 or u8, not {op.element.name.lower()}"
        low = 0 if op.element == isa.Element.U8 else -128
        if not low <= op.zero_point <= low + 255:
            yield f"zero_point must be from {low} to {low + 255}, but is {op.zero_point}"


def _above(name: str, have: int, limit: int) -> Iterator[str]:
    if have > limit:
        yield f"{name} must be at most {limit} on this machine, but is {have}"


def _is_int32(value: float) -> bool:
    return math.isfinite(value) and value.is_integer() and -(2**31) <= value < 2**31


def _access_problems(instruction: Instruction, sizes: dict[Memory, int]) -> Iterator[str]:
    found = accesses(instruction)
    if any(access.rows == 0 or access.row_bytes == 0 for access in found):
        return  # said already
    for access in found:
        have = sizes[access.memory]
        if access.end > have:
            yield f"{access.what} needs {access.end} bytes of {access.memory.value}, but there are {have}"
        if access.address % access.alignment or (access.rows > 1 and access.stride % access.alignment):
            yield f"{access.what}: address and stride must be multiples of {access.alignment}"
        if access.write and access.rows > 1 and access.stride < access.row_bytes:
            yield f"{access.what}: rows of {access.row_bytes} bytes overlap with a stride of {access.stride}"
    writes = [access for access in found if access.write]
    for write in writes:
        for read in found:
            if not read.write and _overlap_badly(read, write):
                yield f"{write.what} overlaps {read.what} without being the same place"


def _overlap_badly(read: Access, write: Access) -> bool:
    """True if bytes are read and written that are not element for element the same."""
    if read.memory != write.memory or read.end <= write.address or write.end <= read.address:
        return False
    if read.rows == write.rows == 1 or read.stride == write.stride:
        if read.address == write.address and (read.rows, read.row_bytes) == (write.rows, write.row_bytes):
            return False
        if read.rows > 1 and read.stride > 0:  # rows may lie between rows
            ahead = (write.address - read.address) % read.stride
            return ahead < read.row_bytes or ahead + write.row_bytes > read.stride
    return True


@dataclass
class _Semaphore:
    signaller: Queue
    waiter: Queue
    signalled: int = 0
    waited: int = 0


@dataclass
class _Semaphores:
    """Follows who signals and waits for what, and how much."""

    live: dict[int, _Semaphore] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def take(self, op: Instruction) -> Iterator[str]:
        if isinstance(op, isa.SemInit):
            yield from self._start(op)
        queue = op.runs_on()
        for what, tokens in (("wait", op.waits), ("signal", op.signals)):
            for semaphore, times in Counter(token.semaphore for token in tokens).items():
                if times > 1:
                    yield f"{what}s for s{semaphore} {times} times; use a count"
            for token in tokens:
                yield from self._count(what, token, queue)

    def _start(self, op: isa.SemInit) -> Iterator[str]:
        if op.signaller == op.waiter:
            yield f"s{op.semaphore} must order two queues, but has {op.waiter.name.lower()} at both ends"
        if op.semaphore >= SEMAPHORES:
            yield f"there is no s{op.semaphore}; the last one is s{SEMAPHORES - 1}"
        if op.semaphore in self.live:
            self.problems += self._balance(op.semaphore)
        self.live[op.semaphore] = _Semaphore(op.signaller, op.waiter)

    def _count(self, what: str, token: Token, queue: Queue | None) -> Iterator[str]:
        state = self.live.get(token.semaphore)
        if state is None:
            yield f"s{token.semaphore} has no sem_init before it"
            return
        allowed = state.waiter if what == "wait" else state.signaller
        if queue != allowed:
            name = queue.name.lower() if queue is not None else "no queue"
            yield f"queue {name} may not {what} s{token.semaphore}; {allowed.name.lower()} does"
        if what == "wait":
            state.waited += token.count
        else:
            state.signalled += token.count

    def _balance(self, semaphore: int) -> list[str]:
        state = self.live[semaphore]
        if state.waited == state.signalled:
            return []
        return [f"s{semaphore} is not balanced: {state.signalled} signalled, {state.waited} waited for"]

    def unbalanced(self) -> list[str]:
        """What is wrong with the counts once the program is over."""
        return self.problems + [problem for semaphore in sorted(self.live) for problem in self._balance(semaphore)]


@dataclass
class _Weights:
    """Follows which weights are there."""

    shadow: isa.Element | None = None
    active: isa.Element | None = None

    def take(self, op: Instruction) -> Iterator[str]:
        if isinstance(op, isa.LoadWeights):
            self.shadow = op.element
        elif isinstance(op, isa.MatMul):
            if op.swap:
                if self.shadow is None:
                    yield "swaps in weights, but none were loaded since the last swap"
                self.active, self.shadow = self.shadow, None
            if self.active is None:
                yield "there are no active weights; load some and swap"
            elif (self.active == isa.Element.F32) != (op.element == isa.Element.F32):
                yield f"the active weights are {self.active.name.lower()}, the left operand {op.element.name.lower()}"
