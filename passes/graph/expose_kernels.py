"""ai-expose-kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from aiopt.passes.base import Pass, functions
from aiopt.passes.spec.base import Level
from aiopt.passes.spec.inserts import completed, insertion_of
from aiopt.passes.spec.kernels import viewed_value
from aiopt.passes.unit import Unit

PREFIX = "kernel."


@dataclass(frozen=True)
class ExposeKernels(Pass):
    """Before: @main that calls kernels. After: it also returns what each of them gives, under the name `kernel.<n>`,
    where n is the number of the call. The kernels stay as they are. What a later call completes is not returned.
    """

    name: ClassVar[str] = "ai-expose-kernels"
    requires: ClassVar[Level | None] = Level.KERNELS

    def run(self, unit: Unit) -> None:
        for main in functions(unit.module):
            if main.name.value != "main":
                continue
            *ops, end = main.entry_block.operations
            calls = [op for op in ops if isinstance(op, func.CallOp)]
            results = [op.operation.results[0] for op in calls]
            kept = list(end.operation.operands)
            returned = {viewed_value(value) for value in kept} | _changed(calls, functions(unit.module))
            added = {f"{PREFIX}{n}": value for n, value in enumerate(results) if value not in returned}
            func.ReturnOp([*kept, *added.values()], loc=end.location, ip=ir.InsertionPoint(end))
            end.operation.erase()
            kinds = [*main.type.results, *(value.type for value in added.values())]
            main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(main.type.inputs, kinds))
            named = (
                main.attributes["res_attrs"] if "res_attrs" in main.attributes else [ir.DictAttr.get({})] * len(kept)
            )
            entries = [*named, *(ir.DictAttr.get({"ai.name": ir.StringAttr.get(name)}) for name in added)]
            main.attributes["res_attrs"] = ir.ArrayAttr.get(entries)


def _changed(calls: list[func.CallOp], kernels: list[func.FuncOp]) -> set[ir.Value]:
    """What calls write into: it has no value of its own any more in the end."""
    insertions = {kernel.name.value: insertion_of(kernel) for kernel in kernels}
    places = {call: completed(call, insertions[call.callee.value]) for call in calls}
    return {call.operands[place] for call, place in places.items() if place is not None}
