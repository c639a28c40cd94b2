"""GRAPH: one function @main of `ai` ops on ranked static tensors."""

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import tensor_namespaces
from aiopt.passes.spec.base import (
    Level,
    Spec,
    require_dense_constants,
    require_functions,
    require_ops,
    require_static_tensors,
)
from aiopt.passes.spec.interface import check_interface
from aiopt.support.errors import SpecError

_NAMES = frozenset({"arith.constant", "func.func", "func.return"})


def _check(module: ir.Module) -> None:
    functions = [op for op in module.body.operations if isinstance(op, func.FuncOp)]
    if [function.name.value for function in functions] != ["main"]:
        raise SpecError("level graph has one function, called @main")
    require_functions(Level.GRAPH, module)
    require_ops(Level.GRAPH, module.operation, _NAMES, tensor_namespaces(), "here")
    for function in functions:
        require_static_tensors(Level.GRAPH, function)
        require_dense_constants(Level.GRAPH, function)
        check_interface(Level.GRAPH, module, function)


SPEC = Spec(Level.GRAPH, _check)
