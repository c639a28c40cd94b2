"""`npu-assign-semaphores`: functions of the high tier to programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import bufferization, func

from aiopt.dialects.ext import buffer_type, from_attribute
from aiopt.dialects.npu import TileOp
from aiopt.passes.base import FunctionPass
from aiopt.passes.rewrite import constant_value
from aiopt.passes.unit import Unit
from aiopt.support.errors import IRError
from aiopt.targets.npu.access import Memory
from aiopt.targets.npu.allocate import DRAM_BYTES
from aiopt.targets.npu.convert import build_function, machine_of
from aiopt.targets.npu.encoding import Instruction
from aiopt.targets.npu.isa import Halt
from aiopt.targets.npu.lifetimes import buffers_of
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.program import Program, Tensor
from aiopt.targets.npu.synchronize import synchronize
from aiopt.targets.npu.tile_blocks import ADDRESS, MEMORIES, Blocks, address_of, argument_attributes, is_tiled
from aiopt.targets.npu.tile_instructions import instructions_of


@dataclass(frozen=True)
class AssignSemaphores(FunctionPass):
    """Ops on buffers to instructions, and the order of one thread to semaphores between the queues.

    Before: functions of the high tier whose buffers have addresses, and that `npu-verify-tiles` has nothing to say of.
    After: programs: functions of instructions, those without `ai.output` among the arguments as inputs. Waits for
    transfers become credits, as far as anything depends on them.
    Option: machine, a preset or a file; without it, it is the preset the function says.
    """

    name: ClassVar[str] = "npu-assign-semaphores"

    machine: str = ""

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> None:
        if is_tiled(function):
            program = read_tiles(function, unit, machine_of(function, self.machine, self.name))
            name = function.name.value
            function.operation.erase()
            build_function(program, unit, name)


def read_tiles(function: func.FuncOp, unit: Unit, machine: Machine) -> Program:
    """The program of a function of the high tier. Raises IRError if a buffer has no address."""
    where = f"@{function.name.value}"
    if DRAM_BYTES not in function.attributes:
        raise IRError(f"{where} has no attribute {DRAM_BYTES}: npu-allocate comes first")
    addresses, data = _addresses(function), {}
    for buffer, address in addresses.items():
        if isinstance(buffer, ir.OpResult) and isinstance(buffer.owner.opview, bufferization.ToBufferOp):
            array = constant_value(buffer.owner.operands[0], unit)
            if array is None:
                raise IRError(f"{where}: the value of a constant is not known")
            data[address] = array.tobytes()
    body: list[Instruction] = []
    blocks = Blocks()
    for op in function.entry_block.operations:
        if isinstance(op, TileOp):
            body += instructions_of(op, blocks, addresses)
    dram_bytes = from_attribute(function.attributes[DRAM_BYTES])
    sizes = {Memory.DRAM: dram_bytes, Memory.SPAD: machine.spad_bytes, Memory.ACC: machine.acc_bytes}
    inputs, outputs = _tensors(function, addresses)
    instructions = [*synchronize(body, sizes), Halt()]
    return Program(machine.name, machine.hash(), dram_bytes, instructions, inputs, outputs, data)


def _addresses(function: func.FuncOp) -> dict[ir.Value, int]:
    found = {}
    for buffer in buffers_of(function):
        address = address_of(function, buffer)
        if address is None:
            memory = MEMORIES[buffer_type(buffer).space].value
            raise IRError(f"@{function.name.value}: a buffer in {memory} has no {ADDRESS}: npu-allocate comes first")
        found[buffer] = address
    return found


def _tensors(function: func.FuncOp, addresses: dict[ir.Value, int]) -> tuple[list[Tensor], list[Tensor]]:
    inputs: list[Tensor] = []
    outputs: list[Tensor] = []
    for number, (argument, attributes) in enumerate(
        zip(function.arguments, argument_attributes(function), strict=True)
    ):
        name = from_attribute(attributes["ai.name"]) if "ai.name" in attributes else f"arg{number}"
        tensor = Tensor(name, addresses[argument], buffer_type(argument).tensor)
        (outputs if "ai.output" in attributes else inputs).append(tensor)
    return inputs, outputs
