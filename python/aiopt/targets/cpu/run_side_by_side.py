"""cpu-run-side-by-side: calls that run at the same time become one parallel loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func, scf

from aiopt.passes.base import Pass, functions
from aiopt.passes.spec.base import Level
from aiopt.passes.spec.interface import net_name
from aiopt.passes.spec.regions import region_of, regions_of
from aiopt.passes.unit import Unit
from aiopt.targets.cpu.name_symbols import PREFIX
from aiopt.targets.cpu.outline_tasks import PARALLEL, parallel

KERNELS = "ai.kernels"  # on such a loop: the kernels it calls


@dataclass(frozen=True)
class RunSideBySide(Pass):
    """Before: calls of @main with an `ai.region` (ai-plan-threads).
    After: one call for each region, of a function over a range of its calls; `ai.parallel` says that it may be split.
    """

    name: ClassVar[str] = "cpu-run-side-by-side"
    requires: ClassVar[Level | None] = Level.CPU

    def run(self, unit: Unit) -> None:
        main = next((f for f in functions(unit.module) if f.name.value == "main"), None)
        if main is None:
            return
        for group in regions_of(main):
            if (number := region_of(group[0])) is not None:
                # The net's prefix makes it part of the entry, not a kernel to compile for itself.
                _outline(main, group, f"aiopt_{net_name(unit.module)}_region_{number}")


def _outline(main: func.FuncOp, calls: Sequence[func.CallOp], name: str) -> None:
    buffers = list(dict.fromkeys(value for call in calls for value in call.operands))
    index = ir.IndexType.get()
    with ir.InsertionPoint(main), calls[0].location:
        task = func.FuncOp(name, ([*(v.type for v in buffers), index, index], []), visibility="private")
    task.attributes[KERNELS] = ir.ArrayAttr.get(
        [ir.StringAttr.get(call.callee.value.removeprefix(PREFIX)) for call in calls]
    )
    block = task.add_entry_block([calls[0].location] * (len(buffers) + 2))
    *arguments, begin, end = block.arguments
    inside = dict(zip(buffers, arguments, strict=True))
    with ir.InsertionPoint(block), calls[0].location:
        for position, call in enumerate(calls):
            place = arith.ConstantOp(index, position).result
            from_begin = arith.cmpi(arith.CmpIPredicate.sle, begin, place)
            before_end = arith.cmpi(arith.CmpIPredicate.slt, place, end)
            branch = scf.IfOp(arith.andi(from_begin, before_end))
            with ir.InsertionPoint(branch.then_block):
                func.CallOp([], call.callee, [inside[value] for value in call.operands])
                scf.YieldOp([])
        func.ReturnOp([])
    with ir.InsertionPoint(calls[0]), calls[0].location:
        bounds = [arith.ConstantOp(index, bound).result for bound in (0, len(calls))]
        launch = func.CallOp([], name, [*buffers, *bounds])
    launch.operation.attributes[PARALLEL] = parallel(len(calls))
    nodes = [node for call in calls for node in call.operation.attributes.get("ai.nodes", [])]
    launch.operation.attributes["ai.nodes"] = ir.ArrayAttr.get(nodes)
    for call in calls:
        call.operation.erase()
