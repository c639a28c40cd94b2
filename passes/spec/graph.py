"""GRAPH: one function @main of `ai` ops on ranked static tensors."""

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import operations
from aiopt.passes.spec.base import Level, Spec, require_ops, require_static_tensors
from aiopt.support.errors import SpecError

_NAMES = frozenset({"arith.constant", "func.func", "func.return"})


def _check(module: ir.Module) -> None:
    functions = [op for op in module.body.operations if isinstance(op, func.FuncOp)]
    if [function.name.value for function in functions] != ["main"]:
        raise SpecError("level graph has one function, called @main")
    require_ops(Level.GRAPH, operations(module), _NAMES, frozenset({"ai"}), "here")
    for function in functions:
        require_static_tensors(Level.GRAPH, function)


SPEC = Spec(Level.GRAPH, _check)
