"""cpu-retype-empty-buffers: types that upstream's bare pointers can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from aiopt.passes.base import Pass, functions
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.passes.walk import ops_named


@dataclass(frozen=True)
class RetypeEmptyBuffers(Pass):
    """Before: arguments and views without elements, as memref<2x0xf32>.
    After: their first size is the 0, as in memref<0x1xf32>.

    Upstream gives the former no strides and then cannot make a bare pointer of it. Nobody reads either.
    """

    name: ClassVar[str] = "cpu-retype-empty-buffers"
    requires: ClassVar[Level | None] = Level.CPU

    def run(self, unit: Unit) -> bool:
        changed = False
        for function in functions(unit.module):
            for op in ops_named(function, "memref.view"):
                changed |= _retype(op.results[0])
            retyped = [_retype(argument) for argument in function.arguments]
            if any(retyped):
                changed = True
                kinds = [argument.type for argument in function.arguments]
                kind = ir.FunctionType.get(kinds, function.type.results)
                function.attributes["function_type"] = ir.TypeAttr.get(kind)
        return changed


def _retype(value: ir.Value) -> bool:
    kind = value.type
    if not isinstance(kind, ir.MemRefType) or 0 not in kind.shape[1:]:
        return False
    value.set_type(ir.MemRefType.get([0, *(size or 1 for size in kind.shape[1:])], kind.element_type))
    return True
