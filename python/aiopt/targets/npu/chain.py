"""A chain of matrix products as one program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aiopt.support.types import TensorType
from aiopt.targets.npu import layer as layers
from aiopt.targets.npu import tiles
from aiopt.targets.npu.encoding import Instruction
from aiopt.targets.npu.isa import Element, Fence, Halt
from aiopt.targets.npu.layer import MatMul
from aiopt.targets.npu.lower_matmul import Lowering, Places, problem_of, semaphores
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.program import Program, Tensor
from aiopt.targets.npu.tiles import ALIGNMENT

_NAMES = {Element.I8: "i8", Element.U8: "ui8", Element.F32: "f32"}


class _Dram:
    """Hands out dram from the bottom up."""

    def __init__(self) -> None:
        self.size = 0
        self.data: dict[int, bytes] = {}

    def take(self, nbytes: int) -> int:
        address = self.size
        self.size += -(-nbytes // ALIGNMENT) * ALIGNMENT
        return address

    def put(self, array: np.ndarray) -> int:
        address = self.take(array.nbytes)
        self.data[address] = np.ascontiguousarray(array).tobytes()
        return address


def lower_chain(x: TensorType, chain: Sequence[MatMul], machine: Machine, depth: int = 2) -> Program:
    """The program that takes an input `x` [m, k] through the layers, one after the other, to the output `y`.

    `depth` buffers of everything take turns; 1 does one thing after the other. Raises UnsupportedError if a layer does
    not go with its input or does not fit the machine.
    """
    dram = _Dram()
    source = result = Tensor("x", dram.take(x.nbytes), x)
    instructions: list[Instruction] = semaphores()
    for number, layer in enumerate(chain):
        layers.check(layer, result.type)
        m, element = result.type.shape[0], layers.element_of(result.type.dtype)
        kind = TensorType((m, layer.n), _NAMES[layer.result])
        given, result = result, Tensor("y", dram.take(kind.nbytes), kind)
        problem = problem_of(layer, m, element)
        places = _places(layer, dram, given.address, result.address)
        if number:
            instructions.append(Fence())  # what the layer before stored is loaded
        chosen = tiles.choose(problem, machine, depth)
        instructions += Lowering(layer, problem, places, chosen, machine).instructions()
    instructions.append(Halt())
    return Program(machine.name, machine.hash(), dram.size, instructions, [source], [result], dram.data)


def _places(layer: MatMul, dram: _Dram, x: int, y: int) -> Places:
    bias = None if layer.bias is None else dram.put(layer.bias)
    scales = None
    if layer.requantize is not None and layer.requantize.scale.ndim == 1:
        scales = dram.put(layer.requantize.scale)
    return Places(x, dram.put(layer.weight), y, bias, scales)
