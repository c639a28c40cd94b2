"""`npu-allocate`: addresses for the buffers of the high tier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import buffer_type
from aiopt.passes.base import FunctionPass
from aiopt.passes.lower.arena import Buffer, Plan, align, plan
from aiopt.passes.unit import Unit
from aiopt.support.errors import UnsupportedError
from aiopt.targets.npu.access import Memory
from aiopt.targets.npu.convert import machine_of
from aiopt.targets.npu.lifetimes import buffers_of, lifetimes
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.tile_blocks import ADDRESS, MEMORIES, address_owner, argument_attributes, is_tiled

DRAM_BYTES = "npu.dram_bytes"


@dataclass(frozen=True)
class Allocate(FunctionPass):
    """Give each buffer of the high tier an address in its memory.

    Before: functions of the high tier. After: `npu.address` on their arguments, on `memref.alloc` and on `ai.constant`,
    and `npu.dram_bytes` on the function. Where there is no room for all, buffers of which one is done with before the
    other is begun with share bytes; those that hold something before or after the program share with none.
    Option: machine, a preset or a file; without it, it is the preset the function says.
    """

    name: ClassVar[str] = "npu-allocate"

    machine: str = ""

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> None:
        if is_tiled(function):
            allocate(function, machine_of(function, self.machine, self.name))


def allocate(function: func.FuncOp, machine: Machine) -> None:
    """Set the addresses. Raises UnsupportedError that says what is needed and what the machine has."""
    have = {Memory.SPAD: machine.spad_bytes, Memory.ACC: machine.acc_bytes}
    lives = lifetimes(function)
    size = 0
    for memory in Memory:
        buffers = [buffer for buffer in buffers_of(function) if MEMORIES[buffer_type(buffer).space] is memory]
        placed = _plan([Buffer(buffer_type(b).tensor.nbytes, *lives[b]) for b in buffers], have.get(memory, 0))
        if memory in have and placed.peak > have[memory]:
            raise UnsupportedError(
                f"@{function.name.value} needs {placed.peak} bytes of {memory.value}, but machine '{machine.name}' has "
                f"{have[memory]}"
            )
        size = placed.peak if memory is Memory.DRAM else size
        with function.context:
            _set_addresses(function, buffers, placed.offsets)
    with function.context:
        function.attributes[DRAM_BYTES] = _integer(align(size))


def _plan(buffers: list[Buffer], have: int) -> Plan:
    """Each buffer for itself if there is room: bytes that are shared make one transfer wait for another."""
    apart = plan([replace(buffer, first=0, last=0) for buffer in buffers])
    return apart if apart.peak <= have else plan(buffers)


def _set_addresses(function: func.FuncOp, buffers: Sequence[ir.Value], offsets: Sequence[int]) -> None:
    arguments = argument_attributes(function)
    for buffer, offset in zip(buffers, offsets, strict=True):
        if isinstance(buffer, ir.BlockArgument):
            arguments[buffer.arg_number][ADDRESS] = _integer(offset)
        else:
            address_owner(buffer).operation.attributes[ADDRESS] = _integer(offset)
    function.arg_attrs = [ir.DictAttr.get(attributes) for attributes in arguments]


def _integer(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
