"""GRAPH: one function @main of `ai` ops on ranked static tensors."""

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import operations
from aiopt.passes.spec.base import Level, Spec, refuse, require_ops
from aiopt.support.errors import SpecError

_NAMES = frozenset({"arith.constant", "func.func", "func.return"})


def _check(module: ir.Module) -> None:
    if [op.name.value for op in module.body.operations if isinstance(op, func.FuncOp)] != ["main"]:
        raise SpecError("level graph has one function, called @main")
    require_ops(Level.GRAPH, operations(module), _NAMES, frozenset({"ai"}), "here")
    for op in operations(module):
        for result in op.results:
            if not isinstance(result.type, ir.RankedTensorType) or not result.type.has_static_shape:
                raise refuse(Level.GRAPH, op, f"with a result of type {result.type}: tensors of static shape only")


SPEC = Spec(Level.GRAPH, _check)
