"""One file per level says which ops, types and forms it allows; `check` holds a module against its level's."""

from mlir import ir

from aiopt.passes.level import Level
from aiopt.passes.spec import cpu, graph, kernels, llvm, loops, parts, tensor
from aiopt.passes.spec.base import Spec

SPECS: dict[Level, Spec] = {
    s.level: s for s in (graph.SPEC, kernels.SPEC, parts.SPEC, tensor.SPEC, loops.SPEC, cpu.SPEC, llvm.SPEC)
}
UPSTREAM_ONLY = frozenset({Level.LOOPS, Level.CPU, Level.LLVM})  # levels whose specs allow no dialect defined in Python


def check(module: ir.Module, level: Level) -> None:
    """Raise SpecError if the module breaks the spec of this level."""
    SPECS[level].check(module)


__all__ = ["SPECS", "UPSTREAM_ONLY", "Level", "Spec", "check"]
