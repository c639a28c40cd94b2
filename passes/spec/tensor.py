"""TENSOR: destination-passing kernels in linalg on tensors; @main calls them on buffers, one alloc per value."""

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import operations
from aiopt.passes.spec.base import Level, Spec, refuse, require_ops

_MAIN = frozenset(
    {
        "ai.constant",
        "arith.constant",
        "bufferization.to_buffer",
        "memref.alloc",
        "memref.reinterpret_cast",
        "func.call",
        "func.return",
    }
)
_KERNEL_DIALECTS = frozenset(
    {"linalg", "tensor", "arith", "math", "scf", "affine", "vector", "memref", "bufferization"}
)


def _check(module: ir.Module) -> None:
    for function in module.body.operations:
        if not isinstance(function, func.FuncOp):
            raise refuse(Level.TENSOR, function, "beside functions")
        if function.type.results:
            raise refuse(Level.TENSOR, function, f"@{function.name.value} with results: destinations are arguments")
        if function.name.value == "main":
            require_ops(Level.TENSOR, operations(function), _MAIN, frozenset(), "in @main")
        else:
            names = frozenset({"func.return"})
            require_ops(Level.TENSOR, operations(function), names, _KERNEL_DIALECTS, f"in @{function.name.value}")


SPEC = Spec(Level.TENSOR, _check)
