"""`npu-verify-tiles`: hold functions of the high tier against their machine, and transfers against their waits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects.ai import ConstantOp
from aiopt.dialects.ext import buffer_type, describe
from aiopt.dialects.npu import TileMatMulOp, TileOp, WaitOp
from aiopt.passes.base import FunctionPass
from aiopt.passes.lower.arena import ALIGNMENT, Buffer, live_bytes
from aiopt.passes.unit import Unit
from aiopt.support.errors import IRError
from aiopt.targets.npu.access import Memory
from aiopt.targets.npu.convert import machine_of
from aiopt.targets.npu.lifetimes import buffers_of, lifetimes
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.tile_blocks import (
    MEMORIES,
    Block,
    Blocks,
    address_of,
    is_buffer,
    is_tiled,
    is_transfer,
    is_view,
)

_PLAIN = (ConstantOp, arith.ConstantOp, func.ReturnOp)  # ops beside buffers, views and those of the tier


@dataclass(frozen=True)
class VerifyTiles(FunctionPass):
    """Before: any IR. After: the same; a function of the high tier that its machine cannot run is an error.

    Checked are: blocks of the array's size; that the memories hold the buffers (what is needed and what there is);
    addresses that are aligned, and not shared by buffers that are needed at the same time; that each transfer is waited
    for once, and that nothing touches what it writes, or writes what it reads, before.
    Option: machine, a preset or a file; without it, it is the preset the function says.
    """

    name: ClassVar[str] = "npu-verify-tiles"

    machine: str = ""

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> None:
        if is_tiled(function):
            verify_tiles(function, machine_of(function, self.machine, self.name))


def verify_tiles(function: func.FuncOp, machine: Machine) -> None:
    """Raise IRError with the first thing that is wrong."""
    problems = itertools.chain(
        _op_problems(function, machine), _transfer_problems(function), _memory_problems(function, machine)
    )
    for problem in problems:
        raise IRError(f"@{function.name.value}: {problem}")


def _op_problems(function: func.FuncOp, machine: Machine) -> Iterator[str]:
    """Ops that do not belong here, and blocks that are larger than the array."""
    for buffer in buffers_of(function):
        space = buffer_type(buffer).space
        if space not in MEMORIES:
            yield f"a buffer must be in {', '.join(MEMORIES)}, but is {buffer_type(buffer)}"
    for op in function.entry_block.operations:
        if not (isinstance(op, (TileOp, *_PLAIN)) or is_view(op) or is_buffer(op)):
            yield f"{op.operation.name} is no op of the high tier {_at(op)}"
        if isinstance(op, TileMatMulOp):
            k, n = buffer_type(op.right).shape
            if k > machine.rows or n > machine.columns:
                yield (
                    f"npu.tile_matmul multiplies by {k}x{n}, but the array of machine '{machine.name}' is "
                    f"{machine.rows}x{machine.columns} {_at(op)}"
                )


_Accesses = list[tuple[str, bool, Block]]  # operand, whether it is written, block


def _transfer_problems(function: func.FuncOp) -> Iterator[str]:
    """Tokens that are not waited for once, and accesses while a transfer is under way."""
    blocks = Blocks()
    under_way: dict[ir.Value, tuple[TileOp, _Accesses]] = {}
    done: set[ir.Value] = set()
    for op in function.entry_block.operations:
        if isinstance(op, WaitOp):
            if op.token in done:
                yield f"a transfer is waited for twice {_at(op)}"
            under_way.pop(op.token, None)
            done.add(op.token)
        elif isinstance(op, TileOp):
            found = blocks.accesses(op)
            for transfer, others in under_way.values():
                yield from _conflicts(op, found, transfer, others)
            if is_transfer(op):
                under_way[op.operation.results[0]] = op, found
    for transfer, _ in under_way.values():
        yield f"{transfer.operation.name} is never waited for {_at(transfer)}"


def _conflicts(op: TileOp, found: _Accesses, transfer: TileOp, others: _Accesses) -> Iterator[str]:
    verbs = {False: "reads", True: "writes"}
    for (name, write, block), (_, other_write, other) in itertools.product(found, others):
        if (write or other_write) and block.overlaps(other):
            yield (
                f"{op.operation.name} {verbs[write]} {name} before the {transfer.operation.name} {_at(transfer)} that "
                f"{verbs[other_write]} it is waited for {_at(op)}"
            )


def _memory_problems(function: func.FuncOp, machine: Machine) -> Iterator[str]:
    have = {Memory.SPAD: machine.spad_bytes, Memory.ACC: machine.acc_bytes}
    lives = lifetimes(function)
    for memory in Memory:
        buffers = [b for b in buffers_of(function) if MEMORIES[buffer_type(b).space] is memory]
        needs = [Buffer(buffer_type(b).tensor.nbytes, *lives[b]) for b in buffers]
        limit = have.get(memory)
        if limit is not None and (need := max(live_bytes(needs), default=0)) > limit:
            yield f"it needs {need} bytes of {memory.value}, but machine '{machine.name}' has {limit}"
        placed = []
        for buffer, need in zip(buffers, needs, strict=True):
            address = address_of(function, buffer)
            if address is None:
                continue
            end, what = address + need.size, f"the {buffer_type(buffer)} at {memory.value} address {address}"
            if address % ALIGNMENT:
                yield f"{what} must be at a multiple of {ALIGNMENT}"
            if limit is not None and end > limit:
                yield f"{what} needs {end} bytes of {memory.value}, but machine '{machine.name}' has {limit}"
            placed.append((address, need, what))
        yield from _shared(placed)


def _shared(placed: list[tuple[int, Buffer, str]]) -> Iterator[str]:
    """Buffers that share bytes though both are needed."""
    for (at, need, what), (other_at, other, other_what) in itertools.combinations(placed, 2):
        together = need.first <= other.last and other.first <= need.last
        if together and at < other_at + other.size and other_at < at + need.size:
            yield f"{what} shares bytes with {other_what}, and both are needed at the same time"


def _at(op: ir.OpView) -> str:
    return f"(at {describe(op.location)})"
