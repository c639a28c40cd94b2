"""CPU: on the way from LOOPS to LLVM; functions, loops and the llvm dialect mixed, everything on buffers."""

from mlir import ir

from aiopt.passes.spec.base import Level, Spec, require_dialects

_DIALECTS = frozenset(
    {"affine", "arith", "builtin", "cf", "func", "index", "llvm", "math", "memref", "scf", "ub", "vector"}
)


def _check(module: ir.Module) -> None:
    require_dialects(Level.CPU, module, _DIALECTS)


SPEC = Spec(Level.CPU, _check)
