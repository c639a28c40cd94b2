"""LLVM: the llvm dialect alone, ready to be translated."""

from mlir import ir

from aiopt.dialects.ext import operations
from aiopt.passes.spec.base import Level, Spec, require_ops


def _check(module: ir.Module) -> None:
    require_ops(Level.LLVM, operations(module), frozenset(), frozenset({"llvm"}), "here")


SPEC = Spec(Level.LLVM, _check)
