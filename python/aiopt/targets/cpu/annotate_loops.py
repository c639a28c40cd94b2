"""cpu-annotate-loops: what loops say about unrolling and vectorization reaches LLVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from aiopt.passes.base import Pass
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit

_DISCARDABLE, _INHERENT = "llvm.loop_annotation", "loop_annotation"
_BRANCHES = frozenset({"llvm.br", "llvm.cond_br"})


@dataclass(frozen=True)
class AnnotateLoops(Pass):
    """Before: branches with the attribute `llvm.loop_annotation` of the scf.for they come from.
    After: the same as `loop_annotation`, the attribute that is translated to LLVM's `!llvm.loop`.

    Upstream's conversions carry the first along, but do not make the second of it.
    """

    name: ClassVar[str] = "cpu-annotate-loops"
    requires: ClassVar[Level | None] = Level.CPU

    def run(self, unit: Unit) -> bool:
        found: list[ir.Operation] = []

        def visit(op: ir.Operation) -> ir.WalkResult:
            if op.name in _BRANCHES and _DISCARDABLE in op.attributes:
                found.append(op)
            return ir.WalkResult.ADVANCE

        unit.module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        for op in found:
            op.attributes[_INHERENT] = op.attributes[_DISCARDABLE]
            del op.attributes[_DISCARDABLE]
        return bool(found)
