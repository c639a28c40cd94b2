"""TENSOR: destination-passing kernels in linalg on tensors; @main calls them on buffers, one alloc per value."""

from mlir import ir

from aiopt.passes.spec.base import (
    Level,
    Spec,
    check_kernel_attributes,
    refuse,
    require_buffers,
    require_functions,
    require_library_calls,
    require_ops,
    require_written,
)
from aiopt.passes.spec.interface import check_interface
from aiopt.passes.spec.plan import check_casts

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
    {"linalg", "tensor", "arith", "math", "scf", "affine", "vector", "x86vector", "memref", "bufferization"}
)


def _check(module: ir.Module) -> None:
    functions = require_functions(Level.TENSOR, module)
    for name, function in functions.items():
        if function.type.results:
            raise refuse(Level.TENSOR, function, f"@{name} with results: destinations are arguments")
        require_buffers(Level.TENSOR, function)
        if name == "main":
            require_ops(Level.TENSOR, function, _MAIN, frozenset(), "in @main")
            check_casts(Level.TENSOR, function)
            require_written(Level.TENSOR, function)
            check_interface(Level.TENSOR, module, function)
        else:
            names = frozenset({"func.return", "func.call"})
            require_ops(Level.TENSOR, function, names, _KERNEL_DIALECTS, f"in @{name}")
            require_library_calls(Level.TENSOR, function, functions)
            check_kernel_attributes(Level.TENSOR, function)


SPEC = Spec(Level.TENSOR, _check)
