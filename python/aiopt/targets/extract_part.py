"""A part of a net as a net of its own."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import func

from aiopt.passes.base import functions
from aiopt.passes.spec.base import Level
from aiopt.passes.spec.interface import net_name
from aiopt.passes.spec.parts import PART
from aiopt.passes.unit import Unit


def extract_part(unit: Unit, part: func.FuncOp) -> Unit:
    """A unit of level KERNELS whose @main is the part; `x0`, `x1` ... are its inputs, `y0`, `y1` ... its outputs.

    Its weights are those of the whole unit.
    """
    called = {op.callee.value for op in part.entry_block.operations if isinstance(op, func.CallOp)}
    with unit.module.context, ir.Location.unknown():
        module = ir.Module.create()
        at = ir.InsertionPoint(module.body)
        main = part.operation.clone(at)
        main.attributes["sym_name"] = ir.StringAttr.get("main")
        for key in (PART, "ai.target", "sym_visibility"):
            del main.attributes[key]
        for key, prefix, kinds in (("arg_attrs", "x", part.type.inputs), ("res_attrs", "y", part.type.results)):
            if kinds:
                main.attributes[key] = _names(prefix, len(kinds))
        for function in functions(unit.module):
            if function.name.value in called:
                function.operation.clone(at)
        module.operation.attributes["ai.net"] = ir.StringAttr.get(f"{net_name(unit.module)}_{part.name.value}")
    extracted = Unit(module, unit.weights)
    extracted.level = Level.KERNELS
    return extracted


def _names(prefix: str, count: int) -> ir.ArrayAttr:
    names = [ir.StringAttr.get(f"{prefix}{number}") for number in range(count)]
    return ir.ArrayAttr.get([ir.DictAttr.get({"ai.name": name}) for name in names])
