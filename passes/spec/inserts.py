"""Calls that complete a tensor in its own buffer: kernels that end with an `ai.insert` into one of their arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.spec.base import Level, refuse


def insertion_of(kernel: func.FuncOp) -> ai.InsertOp | None:
    """The insert that a kernel ends with; what has no elements is not inserted."""
    ops = kernel.entry_block.operations
    last = ops[len(ops) - 2] if len(ops) > 1 else None
    return last if isinstance(last, ai.InsertOp) and type_of(last.out).size else None


def completed(call: func.CallOp, insertion: ai.InsertOp | None) -> int | None:
    """The operand of a call, by number, in whose buffer its result lies; None if it gets one of its own."""
    if insertion is None or insertion.into is None:
        return None
    return ir.BlockArgument(insertion.into).arg_number


def _check_insertion(level: Level, kernel: func.FuncOp) -> None:
    """An insert ends its kernel, whose one result it is, and completes an argument. The kernel reads of that only parts
    that it leaves as they are. Raises SpecError.
    """
    *ops, end = kernel.entry_block.operations
    for op in ops:
        if not isinstance(op, ai.InsertOp) or not type_of(op.out).size:
            continue
        if op != ops[-1] or list(end.operands) != [op.out]:
            raise refuse(level, op, f"in @{kernel.name.value} but as what ends it and is all that it gives")
        if op.into is None:
            continue
        if not isinstance(op.into.owner, ir.Block):
            raise refuse(level, op, f"in @{kernel.name.value} into what is no argument of it")
        slices = [use.owner.opview for use in op.into.uses if use.owner != op.operation]
        steps = [step for made in slices if isinstance(made, ai.SliceOp) for step in made.steps]
        if op.input == op.into or any(step != 1 for step in steps) or not _leave_out(slices, op):
            raise refuse(level, op, f"in @{kernel.name.value} into what it reads, but for other parts of that")


def check_inserts(level: Level, caller: func.FuncOp, kernels: Mapping[str, func.FuncOp]) -> None:
    """What a call completes is there for that: nobody else may see it change.

    It is the result of a call, is not returned, is completed once, and calls that come later read of it only parts
    that were there before; so does its own kernel. Raises SpecError.
    """
    for kernel in kernels.values():
        if "ai.kernel" in kernel.attributes:
            _check_insertion(level, kernel)
    calls = [op for op in caller.entry_block.operations if isinstance(op, func.CallOp)]
    insertions = {name: insertion_of(kernel) for name, kernel in kernels.items()}
    for number, call in enumerate(calls):
        insertion = insertions.get(call.callee.value)
        place = completed(call, insertion)
        if place is None or insertion is None:
            continue
        value = call.operands[place]
        if isinstance(value.owner, ir.Block) or value.owner.operation.name != "func.call":
            raise refuse(level, call, "that writes into what no call computes")
        if any(use.owner.operation.name != "func.call" for use in value.uses):
            raise refuse(level, call, "that writes into what is returned, or seen as something else")
        for later in calls[number:]:
            seen = [at for at, operand in enumerate(later.operands) if operand == value]
            seen = [at for at in seen if (later, at) != (call, place)]
            if not all(_reads_other_part(kernels, later, at, insertion) for at in seen):
                raise refuse(level, later, f"that reads what @{call.callee.value} has changed by then")


def _reads_other_part(kernels: Mapping[str, func.FuncOp], call: func.CallOp, at: int, insertion: ai.InsertOp) -> bool:
    """True if the kernel reads of this argument nothing but slices without what is inserted."""
    argument = kernels[call.callee.value].entry_block.arguments[at]
    return _leave_out([use.owner.opview for use in argument.uses], insertion)


def _leave_out(readers: Sequence[ir.OpView], insertion: ai.InsertOp) -> bool:
    """True if these are slices without what is inserted."""
    axis, first = insertion.axis.value, insertion.start.value
    last = first + type_of(insertion.input).shape[axis]
    slices = [op for op in readers if isinstance(op, ai.SliceOp)]
    spans = [(op.starts[axis], op.starts[axis] + op.sizes[axis]) for op in slices if op.steps[axis] == 1]
    return len(spans) == len(readers) and all(end <= first or start >= last for start, end in spans)
