"""Levels of the IR and the shape of a level's spec."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import describe, operations
from aiopt.support.errors import SpecError


class Level(Enum):
    """Where on the one-way street a module stands; the value is what the attribute `ai.level` holds."""

    GRAPH = "graph"
    KERNELS = "kernels"
    TENSOR = "tensor"
    LOOPS = "loops"
    CPU = "cpu"
    LLVM = "llvm"


@dataclass(frozen=True)
class Spec:
    """What a level allows. `check` raises SpecError at the first op that is not allowed."""

    level: Level
    check: Callable[[ir.Module], None]


def refuse(level: Level, op: ir.Operation | ir.OpView, why: str) -> SpecError:
    """The error for an op a level does not allow."""
    return SpecError(f"level {level.value} does not allow '{op.operation.name}' {why} (at {describe(op.location)})")


def require_ops(
    level: Level, ops: Iterable[ir.OpView], names: frozenset[str], dialects: frozenset[str], where: str
) -> None:
    """Every op is one of `names` or of one of `dialects`. Raises SpecError."""
    for op in ops:
        name = op.operation.name
        if name not in names and name.split(".")[0] not in dialects:
            raise refuse(level, op, where)


def require_dialects(level: Level, module: ir.Module, dialects: frozenset[str]) -> None:
    """Every op inside the module is of one of `dialects`. Raises SpecError.

    By a walk that makes no OpViews: modules of these levels have many ops, and this runs after each of many steps.
    """
    wrong: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.partition(".")[0] in dialects or op == module.operation:
            return ir.WalkResult.ADVANCE
        wrong.append(op)
        return ir.WalkResult.INTERRUPT

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    if wrong:
        raise refuse(level, wrong[0], "here")


def require_static_tensors(level: Level, function: func.FuncOp) -> None:
    """Every argument of the function and every result in it is a ranked tensor of static shape. Raises SpecError."""
    for argument in function.arguments:
        _require_static_tensor(level, function, argument.type)
    for op in operations(function):
        for result in op.results:
            _require_static_tensor(level, op, result.type)


def _require_static_tensor(level: Level, op: ir.OpView, kind: ir.Type) -> None:
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
        raise refuse(level, op, f"with a value of type {kind}: ranked tensors of static shape only")
