"""A part of a net on an NPU. There is no chip: a run is one of the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from aiopt.runtime.stored_part import StoredPart
from aiopt.targets.npu import npub
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.program import Program, ProgramError
from aiopt.targets.npu.simulator import Result, simulate


@dataclass(frozen=True)
class NpuPart:
    """A program, and the kernels it is made of: the name of each and the cycles it takes."""

    machine: Machine
    program: Program
    launches: list[str]
    cycles: list[int]

    @property
    def features(self) -> str:
        return ""

    @staticmethod
    def build(program: Program, fences: Sequence[int], kernels: list[str], machine: Machine) -> NpuPart:
        """The part of a program, which is run once to count its cycles: they do not depend on the numbers.

        fences: which of its fences (or its halt) ends each of the kernels.
        """
        zeros = {tensor.name: np.zeros(tensor.type.shape, tensor.type.dtype) for tensor in program.inputs}
        ends = _run(program, machine, zeros).fence_cycles
        stops = [ends[fence] for fence in fences]
        cycles = [stop - start for start, stop in zip([0, *stops], stops, strict=False)]
        return NpuPart(machine, program, kernels, cycles)

    def timed(self, inputs: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[float]]:
        """The results, and what the cycles of each kernel take at the machine's clock."""
        given = zip(self.program.inputs, inputs, strict=True)
        result = _run(self.program, self.machine, {tensor.name: array for tensor, array in given})
        hertz = self.machine.mhz * 1e6
        return [result.outputs[tensor.name] for tensor in self.program.outputs], [c / hertz for c in self.cycles]

    def stored(self) -> StoredPart:
        facts = {"machine": asdict(self.machine), "launches": self.launches, "cycles": self.cycles}
        return StoredPart("npu", facts, [npub.write(self.program)])

    @staticmethod
    def load(stored: StoredPart, threads: int) -> NpuPart:
        """The part that was stored; the array does not care for threads. Raises ModelError."""
        facts = stored.facts
        program = npub.read(stored.objects[0], "a part of a compiled net")
        return NpuPart(Machine(**facts["machine"]), program, facts["launches"], facts["cycles"])

    def close(self) -> None:
        """Nothing is held."""


def _run(program: Program, machine: Machine, inputs: dict[str, np.ndarray]) -> Result:
    result = simulate(program, machine, inputs)
    if result.races:
        raise ProgramError(f"the program of a part has a race: {result.races[0]}")
    return result
