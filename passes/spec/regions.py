"""Calls that run at the same time: next to each other, and none touches what another one writes."""

from __future__ import annotations

from itertools import combinations, groupby

from mlir import ir
from mlir.dialects import func

from aiopt.passes.effects import call_effects, written_arguments
from aiopt.passes.spec.base import REGION, SERIAL, Level, refuse


def region_of(call: func.CallOp) -> int | None:
    """The number of the region a call of @main belongs to."""
    attribute = call.operation.attributes.get(REGION)
    return None if attribute is None else ir.IntegerAttr(attribute).value


def regions_of(main: func.FuncOp) -> list[list[func.CallOp]]:
    """The calls of @main in the order they run: those that run at the same time together."""
    calls = [op for op in main.entry_block.operations if isinstance(op, func.CallOp)]
    groups = groupby(enumerate(calls), key=lambda pair: ("alone", pair[0]) if (r := region_of(pair[1])) is None else r)
    return [[call for _, call in group] for _, group in groups]


def check_regions(level: Level, module: ir.Module, main: func.FuncOp) -> None:
    """Calls of one region stand together, are of serial kernels, and do not depend on each other. Raises SpecError."""
    for call in main.entry_block.operations:
        if isinstance(call, func.CallOp) and not isinstance(call.attributes.get(REGION), (ir.IntegerAttr, type(None))):
            raise refuse(level, call, f"with {REGION} = {call.attributes[REGION]}: a number")
    regions = [group for group in regions_of(main) if region_of(group[0]) is not None]
    if not regions:
        return
    kernels = {op.name.value: op for op in module.body.operations if isinstance(op, func.FuncOp)}
    written = {call.callee.value: written_arguments(kernels[call.callee.value]) for group in regions for call in group}
    seen: set[int | None] = set()
    for group in regions:
        number = region_of(group[0])
        if number in seen:
            raise refuse(level, group[0], f"of region {number}, whose other calls it does not stand beside")
        seen.add(number)
        for call in group:
            if SERIAL not in kernels[call.callee.value].attributes:
                raise refuse(level, call, f"of region {number}, of a kernel that is not {SERIAL}")
        for one, other in combinations(group, 2):
            if not call_effects(one, written).is_independent(call_effects(other, written)):
                raise refuse(level, other, f"of region {number}, where @{one.callee.value} shares a buffer with it")
