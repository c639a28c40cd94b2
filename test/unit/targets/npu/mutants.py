"""Programs whose semaphores were tampered with, and how that is reported."""

from __future__ import annotations

import dataclasses
import random

import numpy as np

from aiopt.support.types import TensorType
from aiopt.targets.npu.encoding import Instruction
from aiopt.targets.npu.program import Program, ProgramError
from aiopt.targets.npu.simulator import simulate
from aiopt.targets.npu.verify import verify
from unit.targets.npu.chains import integer_layer
from unit.targets.npu.kernels import chain_program
from unit.targets.npu.programs import TINY


def many_turns() -> Program:
    """A program in which each buffer is used many times."""
    pick = np.random.default_rng(0)
    x = pick.integers(-128, 128, (64, 40)).astype(np.int8)
    chain = [integer_layer(pick.integers(-128, 128, shape).astype(np.int8), 0.01) for shape in ((40, 24), (24, 20))]
    return chain_program(TensorType.of(x), chain, TINY)


def problems(program: Program) -> str:
    """How the verifier or the simulator reports a program; "" if they do not."""
    if verify(program, TINY):
        return "verifier"
    inputs = {tensor.name: np.zeros(tensor.type.shape, tensor.type.dtype) for tensor in program.inputs}
    try:
        return "race" if simulate(program, TINY, inputs).races else ""
    except ProgramError:
        return "deadlock"


def _without(tokens: tuple, index: int) -> tuple:
    return tokens[:index] + tokens[index + 1 :]


def _replaced(program: Program, changes: dict[int, Instruction]) -> Program:
    instructions = [changes.get(number, op) for number, op in enumerate(program.instructions)]
    return dataclasses.replace(program, instructions=instructions)


def _waits(program: Program) -> list[tuple[int, int]]:
    """(instruction, which of its waits) for all waits."""
    return [(number, index) for number, op in enumerate(program.instructions) for index in range(len(op.waits))]


def dropped(program: Program, pick: random.Random) -> Program:
    number, index = pick.choice(_waits(program))
    op = program.instructions[number]
    return _replaced(program, {number: dataclasses.replace(op, waits=_without(op.waits, index))})


def dropped_with_its_signal(program: Program, pick: random.Random) -> Program:
    """Balanced, so that the verifier has nothing to say: the wait, and the signal that is then too many."""
    number, index = pick.choice(_waits(program))
    op = program.instructions[number]
    lost = op.waits[index]
    mutant = _replaced(program, {number: dataclasses.replace(op, waits=_without(op.waits, index))})
    last = max(number for number, op in enumerate(program.instructions) if lost in op.signals)
    op = mutant.instructions[last]
    return _replaced(mutant, {last: dataclasses.replace(op, signals=_without(op.signals, op.signals.index(lost)))})


def swapped(program: Program, pick: random.Random) -> Program:
    """Two waits for different semaphores change places."""
    while True:
        (i, a), (j, b) = pick.sample(_waits(program), 2)
        first, second = program.instructions[i], program.instructions[j]
        if i != j and first.waits[a] != second.waits[b]:
            break
    changed = []
    for op, index, token in ((first, a, second.waits[b]), (second, b, first.waits[a])):
        changed.append(dataclasses.replace(op, waits=(*op.waits[:index], token, *op.waits[index + 1 :])))
    return _replaced(program, {i: changed[0], j: changed[1]})


def swapped_in_queue(program: Program, pick: random.Random) -> Program:
    """The same with two instructions of one queue, which the verifier mostly has to let pass."""
    while True:
        mutant = swapped(program, pick)
        changed = [a for a, b in zip(program.instructions, mutant.instructions, strict=True) if a != b]
        if changed[0].runs_on() == changed[1].runs_on():
            return mutant


MUTATIONS = (dropped, dropped_with_its_signal, swapped, swapped_in_queue)
