"""KERNELS: @main calls private functions of `ai` ops; beside calls it has constants and views only."""

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import tensor_namespaces
from aiopt.passes.spec.base import (
    Level,
    Spec,
    check_kernel_attributes,
    refuse,
    require_dense_constants,
    require_functions,
    require_ops,
    require_static_tensors,
)
from aiopt.passes.spec.inserts import check_inserts
from aiopt.passes.spec.interface import check_interface
from aiopt.passes.walk import find_op
from aiopt.support.errors import SpecError

CALLERS = frozenset({"ai.constant", "ai.reshape", "arith.constant", "func.call", "func.return"})
_KERNEL = frozenset({"arith.constant", "func.return"})


def _check(module: ir.Module) -> None:
    functions = require_functions(Level.KERNELS, module)
    if "main" not in functions:
        raise SpecError("level kernels has a function @main")
    for name, function in functions.items():
        require_static_tensors(Level.KERNELS, function)
        require_dense_constants(Level.KERNELS, function, equal=name != "main")
        if name == "main":
            require_ops(Level.KERNELS, function, CALLERS, frozenset(), "in @main")
            check_returned(Level.KERNELS, function)
            check_interface(Level.KERNELS, module, function)
            check_inserts(Level.KERNELS, function, functions)
        else:
            check_kernel(Level.KERNELS, function)


def check_kernel(level: Level, kernel: func.FuncOp) -> None:
    """What a kernel of `ai` ops must be. Raises SpecError."""
    name = kernel.name.value
    if "ai.kernel" not in kernel.attributes:
        raise refuse(level, kernel, f"@{name} without the attribute ai.kernel")
    if "ai.ops" not in kernel.attributes:
        raise refuse(level, kernel, f"@{name} without the names of its ops in the attribute ai.ops")
    check_kernel_attributes(level, kernel)
    if not kernel.type.results:
        raise refuse(level, kernel, f"@{name} without results: nothing would come of it")
    if constant := find_op(kernel, "ai.constant".__eq__):
        raise refuse(level, constant, "inside a kernel: weights reach it as arguments")
    require_ops(level, kernel, _KERNEL, tensor_namespaces(), f"in kernel @{name}")


def check_returned(level: Level, caller: func.FuncOp) -> None:
    """Each value that is returned is the result of a call or a view of it, and of no other: it becomes a buffer.

    Raises SpecError.
    """
    terminator = caller.entry_block.operations[len(caller.entry_block.operations) - 1]
    seen: set[ir.Value] = set()
    for value in map(viewed_value, terminator.operands):
        if isinstance(value.owner, ir.Block) or value.owner.operation.name != "func.call":
            what = "of what no kernel computes"
        elif value in seen:
            what = "of one value twice"
        else:
            seen.add(value)
            continue
        raise refuse(level, terminator, f"{what}: a kernel with ai.identity gives it a buffer of its own")


def viewed_value(value: ir.Value) -> ir.Value:
    """What a value is a view of: itself, unless it is the result of ai.reshape."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name == "ai.reshape":
        value = value.owner.operation.operands[0]
    return value


SPEC = Spec(Level.KERNELS, _check)
