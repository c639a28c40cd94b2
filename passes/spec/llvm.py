"""LLVM: the llvm dialect alone, ready to be translated: a net's entry and its description, and what they refer to."""

from mlir import ir

from aiopt.passes.spec.base import Level, Spec, require_ops
from aiopt.passes.spec.interface import net_name
from aiopt.passes.spec.plan import check_attributes
from aiopt.support.errors import SpecError


def _check(module: ir.Module) -> None:
    require_ops(Level.LLVM, module.operation, frozenset(), frozenset({"llvm"}), "here")
    net = net_name(module)
    check_attributes(module)
    operations = [op.operation for op in module.body.operations]
    defined = {
        ir.StringAttr(op.attributes["sym_name"]).value
        for op in operations
        if op.name in ("llvm.func", "llvm.mlir.global") and (op.name != "llvm.func" or len(op.regions[0].blocks))
    }
    for symbol in (f"aiopt_{net}_info", f"aiopt_{net}_run", f"aiopt_{net}_main"):
        if symbol not in defined:
            raise SpecError(f"level llvm has a definition of @{symbol} (cpu-emit-info and cpu-emit-entry make it)")


SPEC = Spec(Level.LLVM, _check)
