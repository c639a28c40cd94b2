"""cpu-hide-bf16: to LLVM, bf16 in memory is i16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from mlir import ir

from aiopt.passes.base import Pass
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit

_ELEMENT = "elem_type"
_TYPED = frozenset({"llvm.getelementptr", "llvm.alloca"})  # have it


@dataclass(frozen=True)
class HideBf16(Pass):
    """Before: the llvm dialect after ai-expand-bf16, which loads, stores, chooses and casts bf16. After: i16 instead.

    On a CPU without bf16, LLVM keeps a bf16 that lives across blocks as an f32 and rounds it again by a function of
    libgcc, though no arithmetic was done on it.
    """

    name: ClassVar[str] = "cpu-hide-bf16"
    requires: ClassVar[Level | None] = Level.CPU

    def run(self, unit: Unit) -> bool:
        found: list[ir.Operation] = []
        known: dict[ir.Type, ir.Type | None] = {}

        def visit(op: ir.Operation) -> ir.WalkResult:
            name = op.name
            _retype(op, name, known)
            if name == "llvm.bitcast":
                found.append(op)
            return ir.WalkResult.ADVANCE

        unit.module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        for op in found:
            if op.operands[0].type == op.results[0].type:
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
        return any(hidden is not None for hidden in known.values())


def _retype(op: ir.Operation, name: str, known: dict[ir.Type, ir.Type | None]) -> None:
    """known: what takes the place of the types that have been seen."""
    values: list[ir.Value] = list(op.results)
    if len(op.regions):
        values += [argument for r in op.regions for block in r.blocks for argument in block.arguments]
    for value in values:
        if (kind := value.type) not in known:
            known[kind] = _hidden(kind)
        if (hidden := known[kind]) is not None:
            value.set_type(hidden)
            if name == "llvm.mlir.constant":
                op.attributes["value"] = _bits(op.attributes["value"], hidden)
    if name in _TYPED and (hidden := _hidden(ir.TypeAttr(op.attributes[_ELEMENT]).value)) is not None:
        op.attributes[_ELEMENT] = ir.TypeAttr.get(hidden)


def _hidden(kind: ir.Type) -> ir.Type | None:
    """The type to take instead; None for types without bf16."""
    short = ir.IntegerType.get_signless(16)
    if isinstance(kind, ir.BF16Type):
        return short
    if isinstance(kind, ir.VectorType) and isinstance(kind.element_type, ir.BF16Type):
        return ir.VectorType.get(kind.shape, short, scalable=kind.scalable_dims)
    return None


def _bits(value: ir.Attribute, kind: ir.Type) -> ir.Attribute:
    """A constant of bf16 as the integers that have its bits."""
    if isinstance(kind, ir.VectorType):
        assert isinstance(value, ir.DenseElementsAttr), "vectors of bf16 have equal elements here"
        return ir.DenseElementsAttr.get_splat(kind, _bits(value.get_splat_value(), kind.element_type))
    number = np.float32(ir.FloatAttr(value).value).view(np.uint32) >> np.uint32(16)
    return ir.IntegerAttr.get(kind, int(number) - ((int(number) & 0x8000) << 1))
