"""When the buffers of a function of the high tier hold something that is needed."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import func, memref

from aiopt.dialects.npu import TileOp, WaitOp
from aiopt.passes.rewrite import users
from aiopt.targets.npu.tile_blocks import Blocks, is_buffer, is_transfer


def buffers_of(function: func.FuncOp) -> list[ir.Value]:
    """The buffers of a function: arguments first, then in order."""
    made = [op.operation.results[0] for op in function.entry_block.operations if is_buffer(op)]
    return [*function.arguments, *made]


def lifetimes(function: func.FuncOp) -> dict[ir.Value, tuple[int, int]]:
    """For each buffer the numbers of the first and the last op in which it is needed.

    A transfer needs its buffers until its token is waited for. Arguments and constants are needed throughout.
    """
    order = list(function.entry_block.operations)
    position = {op.operation: number for number, op in enumerate(order)}
    found: dict[ir.Value, tuple[int, int]] = {}
    blocks = Blocks()
    for number, op in enumerate(order):
        if not isinstance(op, TileOp):
            continue
        end = number
        if is_transfer(op):
            waits = [user.operation for user in users(op.operation.results[0]) if isinstance(user, WaitOp)]
            end = max((position[wait] for wait in waits), default=len(order) - 1)
        for block in blocks.of(op).values():
            first, last = found.get(block.root, (number, end))
            found[block.root] = (min(first, number), max(last, end))
    for buffer in buffers_of(function):
        whole = isinstance(buffer, ir.BlockArgument) or not isinstance(buffer.owner.opview, memref.AllocOp)
        found[buffer] = (0, len(order) - 1) if whole else found.get(buffer, (0, 0))
    return found
