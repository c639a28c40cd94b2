"""A program: instructions, the machine they are for, and what dram holds before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from aiopt.support.errors import AioptError
from aiopt.support.types import TensorType
from aiopt.targets.npu.encoding import Instruction


class ProgramError(AioptError):
    """A program breaks the rules of its machine: the verifier or the simulator found it."""

    code = "AI1001"


@dataclass(frozen=True)
class Tensor:
    """A row-major tensor in dram."""

    name: str
    address: int
    type: TensorType

    def view(self, dram: np.ndarray) -> np.ndarray:
        """The tensor in dram, which is given as bytes."""
        return dram[self.address : self.address + self.type.nbytes].view(self.type.dtype).reshape(self.type.shape)


@dataclass(frozen=True)
class Program:
    """What a `.npub` file holds."""

    machine: str  # its name, for people
    machine_hash: bytes
    dram_bytes: int
    instructions: list[Instruction]
    inputs: list[Tensor] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)
    data: Mapping[int, bytes] = field(default_factory=dict)  # address in dram -> bytes that are there from the start

    def dram(self) -> np.ndarray:
        """Dram before a run, as bytes: the data and zeros."""
        dram = np.zeros(self.dram_bytes, np.uint8)
        for address, data in self.data.items():
            dram[address : address + len(data)] = np.frombuffer(data, np.uint8)
        return dram
