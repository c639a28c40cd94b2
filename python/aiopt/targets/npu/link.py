"""Programs of kernels as one program: each works where the one before left its results in dram."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from aiopt.support.types import TensorType
from aiopt.targets.npu.encoding import Instruction
from aiopt.targets.npu.isa import DmaLoad, DmaStore, Fence, Halt
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.program import Program, Tensor
from aiopt.targets.npu.tiles import ALIGNMENT


@dataclass(frozen=True)
class Call:
    """A program and the values, whatever names them, that its inputs and outputs are."""

    program: Program
    inputs: Sequence[Hashable]
    outputs: Sequence[Hashable]


@dataclass(frozen=True)
class Linked:
    """The program of several; `fences[i]` is the number of the fence (or halt) that ends the i-th of them."""

    program: Program
    fences: list[int]


def link(
    calls: Sequence[Call],
    inputs: Mapping[Hashable, TensorType],
    outputs: Mapping[Hashable, TensorType],
    machine: Machine,
) -> Linked:
    """One program of all calls, in order. Its inputs are x0, x1, ..., its outputs y0, y1, ..., in the order given."""
    dram = _Dram()
    places = {value: dram.take(kind.nbytes) for value, kind in inputs.items()}
    instructions: list[Instruction] = []
    fences: list[int] = []
    passed = 0
    for call in calls:
        if instructions:
            instructions.append(Fence())  # what the one before stored is loaded
        moves = _place(call, places, dram)
        moved = [_relocate(op, moves) for op in call.program.instructions if not isinstance(op, Halt)]
        dram.data.update({_new_address(at, moves): data for at, data in call.program.data.items()})
        instructions += moved
        passed += sum(isinstance(op, Fence) for op in moved)
        fences.append(passed)
        passed += 1
    instructions.append(Halt())
    return Linked(
        Program(
            machine.name,
            machine.hash(),
            dram.size,
            instructions,
            [Tensor(f"x{i}", places[value], kind) for i, (value, kind) in enumerate(inputs.items())],
            [Tensor(f"y{i}", places[value], kind) for i, (value, kind) in enumerate(outputs.items())],
            dram.data,
        ),
        fences,
    )


@dataclass
class _Dram:
    """Hands out dram from the bottom up."""

    size: int = 0
    data: dict[int, bytes] = field(default_factory=dict)

    def take(self, nbytes: int, residue: int = 0) -> int:
        """A new address that is `residue` behind a multiple of ALIGNMENT, so that bursts stay as they were."""
        address = self.size + residue
        self.size = -(-(address + nbytes) // ALIGNMENT) * ALIGNMENT
        return address


@dataclass(frozen=True)
class _Move:
    """Bytes of a program's dram from `start` to `end` go to `target`."""

    start: int
    end: int
    target: int


def _place(call: Call, places: dict[Hashable, int], dram: _Dram) -> list[_Move]:
    """Where the dram of a program goes: its inputs to where they are, all else to new places. Adds its outputs."""
    program = call.program
    for value, tensor in zip(call.outputs, program.outputs, strict=True):
        places[value] = dram.take(tensor.type.nbytes)
    known = [*zip(call.inputs, program.inputs, strict=True), *zip(call.outputs, program.outputs, strict=True)]
    moves = [_Move(tensor.address, tensor.address + tensor.type.nbytes, places[value]) for value, tensor in known]
    at = 0
    for move in [*sorted(moves, key=lambda move: move.start), _Move(program.dram_bytes, program.dram_bytes, 0)]:
        if move.start > at:
            moves.append(_Move(at, move.start, dram.take(move.start - at, at % ALIGNMENT)))
        at = max(at, move.end)
    return moves


def _relocate(op: Instruction, moves: Sequence[_Move]) -> Instruction:
    if isinstance(op, (DmaLoad, DmaStore)):
        return dataclasses.replace(op, dram=_new_address(op.dram, moves))
    return op


def _new_address(address: int, moves: Sequence[_Move]) -> int:
    return next(move.target + address - move.start for move in moves if move.start <= address < move.end)
