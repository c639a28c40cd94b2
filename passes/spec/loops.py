"""LOOPS: kernels in scf, memref and vector without allocation; @main is a list of calls over views of two buffers."""

from mlir import ir
from mlir.dialects import func

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
from aiopt.passes.spec.plan import check_casts, check_plan, is_planned
from aiopt.passes.spec.regions import check_regions
from aiopt.passes.walk import find_op

_MAIN = frozenset({"arith.constant", "memref.view", "memref.reinterpret_cast", "func.call", "func.return"})
_KERNEL_DIALECTS = frozenset({"arith", "math", "scf", "affine", "vector", "x86vector", "memref"})
_ALLOCATING = frozenset({"memref.alloc", "memref.dealloc", "memref.copy"})


def _check(module: ir.Module) -> None:
    functions = require_functions(Level.LOOPS, module, frozenset({"memref.global"}))
    for name, function in functions.items():
        if function.type.results:
            raise refuse(Level.LOOPS, function, f"@{name} with results: destinations are arguments")
        require_buffers(Level.LOOPS, function)
        if name == "main":
            require_ops(Level.LOOPS, function, _MAIN, frozenset(), "in @main")
            _check_main(module, function)
        else:
            _check_ops(name, function)
            require_library_calls(Level.LOOPS, function, functions)
            check_kernel_attributes(Level.LOOPS, function)


def _check_ops(name: str, kernel: func.FuncOp) -> None:
    wrong = find_op(kernel, _is_refused)
    if wrong is not None:
        why = ": kernels do not allocate" if wrong.name in _ALLOCATING else ""
        raise refuse(Level.LOOPS, wrong, f"in @{name}{why}")


def _is_refused(name: str) -> bool:
    if name in _ALLOCATING:
        return True
    return name not in ("func.return", "func.call") and name.partition(".")[0] not in _KERNEL_DIALECTS


def _check_main(module: ir.Module, main: func.FuncOp) -> None:
    check_casts(Level.LOOPS, main)
    require_written(Level.LOOPS, main)
    check_interface(Level.LOOPS, module, main)
    check_regions(Level.LOOPS, module, main)
    if is_planned(module):
        check_plan(Level.LOOPS, module, main)


SPEC = Spec(Level.LOOPS, _check)
