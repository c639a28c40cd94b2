"""KERNELS: @main calls private functions of `ai` ops; beside calls it has constants and views only."""

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import operations
from aiopt.passes.spec.base import Level, Spec, refuse, require_ops, require_static_tensors
from aiopt.support.errors import SpecError

_MAIN = frozenset({"ai.constant", "ai.reshape", "arith.constant", "func.call", "func.return"})
_KERNEL = frozenset({"arith.constant", "func.return"})


def _check(module: ir.Module) -> None:
    functions = {op.name.value: op for op in module.body.operations if isinstance(op, func.FuncOp)}
    if "main" not in functions:
        raise SpecError("level kernels has a function @main")
    for name, function in functions.items():
        require_static_tensors(Level.KERNELS, function)
        if name == "main":
            require_ops(Level.KERNELS, operations(function), _MAIN, frozenset(), "in @main")
            continue
        if "ai.kernel" not in function.attributes:
            raise refuse(Level.KERNELS, function, f"@{name} without the attribute ai.kernel")
        for op in operations(function):
            if op.operation.name == "ai.constant":
                raise refuse(Level.KERNELS, op, "inside a kernel: weights reach it as arguments")
        require_ops(Level.KERNELS, operations(function), _KERNEL, frozenset({"ai"}), f"in kernel @{name}")


SPEC = Spec(Level.KERNELS, _check)
