"""PARTS: @main calls partitions; each is a function that calls kernels of one target."""

from mlir import ir
from mlir.dialects import func

from aiopt.passes.spec.base import (
    Level,
    Spec,
    refuse,
    require_dense_constants,
    require_functions,
    require_ops,
    require_static_tensors,
)
from aiopt.passes.spec.inserts import check_inserts
from aiopt.passes.spec.interface import check_interface
from aiopt.passes.spec.kernels import CALLERS, check_kernel, check_returned
from aiopt.passes.walk import ops_named
from aiopt.support.errors import SpecError

PART = "ai.part"
_MAIN = frozenset({"func.call", "func.return"})


def _check(module: ir.Module) -> None:
    functions = require_functions(Level.PARTS, module)
    if "main" not in functions:
        raise SpecError("level parts has a function @main")
    for name, function in functions.items():
        require_static_tensors(Level.PARTS, function)
        require_dense_constants(Level.PARTS, function, equal="ai.kernel" in function.attributes)
        if name == "main":
            require_ops(Level.PARTS, function, _MAIN, frozenset(), "in @main")
            check_returned(Level.PARTS, function)
            check_interface(Level.PARTS, module, function)
            _check_callees(function, functions, PART)
        elif PART in function.attributes:
            require_ops(Level.PARTS, function, CALLERS, frozenset(), f"in part @{name}")
            check_returned(Level.PARTS, function)
            check_inserts(Level.PARTS, function, functions)
            _check_callees(function, functions, "ai.kernel")
        else:
            check_kernel(Level.PARTS, function)


def _check_callees(caller: func.FuncOp, functions: dict[str, func.FuncOp], kind: str) -> None:
    """@main calls parts, and a part kernels of its own target."""
    for call in ops_named(caller, "func.call"):
        callee = functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value]
        name = callee.name.value
        if kind not in callee.attributes:
            raise refuse(Level.PARTS, call, f"of @{name} in @{caller.name.value}: it has no attribute {kind}")
        if not isinstance(callee.attributes.get("ai.target"), ir.StringAttr):
            raise refuse(Level.PARTS, callee, f"@{name} without the name of its target in ai.target")
        if caller.name.value != "main" and callee.attributes["ai.target"] != caller.attributes["ai.target"]:
            have, want = callee.attributes["ai.target"], caller.attributes["ai.target"]
            raise refuse(Level.PARTS, call, f"of @{name} of target {have} in a part of target {want}")


SPEC = Spec(Level.PARTS, _check)
