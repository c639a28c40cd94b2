"""LLVM: the llvm dialect alone, ready to be translated."""

from mlir import ir

from aiopt.passes.spec.base import Level, Spec, require_dialects


def _check(module: ir.Module) -> None:
    require_dialects(Level.LLVM, module, frozenset({"llvm"}))


SPEC = Spec(Level.LLVM, _check)
