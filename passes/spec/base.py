"""Levels of the IR and the shape of a level's spec."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from mlir import ir

from aiopt.dialects.ext import describe
from aiopt.support.errors import SpecError


class Level(Enum):
    """Where on the one-way street a module stands; the value is what the attribute `ai.level` holds."""

    GRAPH = "graph"
    KERNELS = "kernels"
    TENSOR = "tensor"
    LOOPS = "loops"
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
