"""LOOPS: kernels in scf, memref and vector without allocation; @main is a list of calls over views of two buffers."""

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import operations
from aiopt.passes.spec.base import Level, Spec, refuse, require_ops

_MAIN = frozenset({"arith.constant", "memref.view", "memref.reinterpret_cast", "func.call", "func.return"})
_KERNEL_DIALECTS = frozenset({"arith", "math", "scf", "affine", "vector", "memref"})
_ALLOCATING = frozenset({"memref.alloc", "memref.dealloc", "memref.copy"})


def _check(module: ir.Module) -> None:
    for function in module.body.operations:
        if not isinstance(function, func.FuncOp):
            if function.operation.name == "memref.global":
                continue
            raise refuse(Level.LOOPS, function, "beside functions and globals")
        if function.name.value == "main":
            require_ops(Level.LOOPS, operations(function), _MAIN, frozenset(), "in @main")
            continue
        names = frozenset({"func.return"})
        require_ops(Level.LOOPS, operations(function), names, _KERNEL_DIALECTS, f"in @{function.name.value}")
        for op in operations(function):
            if op.operation.name in _ALLOCATING:
                raise refuse(Level.LOOPS, op, f"in @{function.name.value}: kernels do not allocate")


SPEC = Spec(Level.LOOPS, _check)
