"""CPU: on the way from LOOPS to LLVM; functions, loops and the llvm dialect mixed, everything on buffers."""

from mlir import ir

from aiopt.passes.spec.base import Level, Spec, require_ops

_DIALECTS = frozenset(
    {"affine", "arith", "builtin", "cf", "func", "index", "llvm", "math", "memref", "scf", "ub", "vector", "x86vector"}
)


def _check(module: ir.Module) -> None:
    require_ops(Level.CPU, module.operation, frozenset(), _DIALECTS, "here")


SPEC = Spec(Level.CPU, _check)
