"""ai-pack-weights: weights in the order in which a template reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ai
from aiopt.dialects.ai.packing import interleaved, pack_columns, pack_filters
from aiopt.dialects.ai.winograd import SIZES, transform_filters
from aiopt.dialects.ext import to_attribute, to_ir
from aiopt.passes.base import Pass, functions
from aiopt.passes.rewrite import constant_value, erase_dead, make_constant
from aiopt.passes.spec.base import Level
from aiopt.passes.templates.base import TEMPLATE_ROUTE, Parameters
from aiopt.passes.templates.kernel import weight_of
from aiopt.passes.templates.read_kernel import read_stages
from aiopt.passes.templates.registry import read_choice
from aiopt.passes.templates.select_route import calls, known_arguments
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError
from aiopt.support.types import TensorType


@dataclass(frozen=True)
class PackWeights(Pass):
    """Before: a template kernel with a constant weight. After: @main passes the weight packed in blocks of `nr`,
    in pairs of rows for a template that sums pairs (`dot`).

    The op gets the attributes pack and filters (or columns), its argument the packed type. Where the template has a
    `size`, filters are transformed for tiles of it (attribute winograd). A weight that is computed at run time, which
    only a matmul may have, stays as it is, and so does one that a library is to read.
    """

    name: ClassVar[str] = "ai-pack-weights"
    requires: ClassVar[Level | None] = Level.KERNELS

    def run(self, unit: Unit) -> bool:
        known, sites, changed = known_arguments(unit), calls(unit), False
        for function in functions(unit.module):
            choice, name = read_choice(function), function.name.value
            stages = read_stages(function, known.get(name, frozenset())) if choice is not None else None
            if choice is None or stages is None or len(stages) != len(choice.stages):
                continue
            for stage, (template, numbers) in zip(stages, choice.stages, strict=True):
                if template.route == TEMPLATE_ROUTE and stage.packable and stage.pack is None:
                    _pack(function, stage.weighted, numbers, sites[name], unit)
                    changed = True
        return erase_dead(unit.module) > 0 or changed


def _pack(
    function: func.FuncOp, root: ai.MatMulOp | ai.ConvOp, numbers: Parameters, sites: list[func.CallOp], unit: Unit
) -> None:
    argument, pack, pairs = ir.BlockArgument(weight_of(root)), numbers["nr"], bool(numbers.get("dot"))
    winograd = numbers.get("size")
    if winograd not in (None, *SIZES):
        raise CompileError(f"@{function.name.value}: winograd has tiles of {SIZES} pixels squared, not {winograd}")
    for site in sites:
        array = constant_value(site.operands[argument.arg_number], unit)
        assert array is not None, "read_contraction has asked"
        packed, total = _packed(root, array, pack, winograd)
        packed = interleaved(packed) if pairs else packed
        hint = _hint(site.operands[argument.arg_number])
        site.operation.operands[argument.arg_number] = make_constant(
            unit, packed, hint, site.location, ir.InsertionPoint(site)
        )
    kind = to_ir(TensorType.of(packed))  # pyright: ignore[reportPossiblyUnboundVariable]
    argument.set_type(kind)
    inputs = [value.type for value in function.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, function.type.results))
    count = "columns" if isinstance(root, ai.MatMulOp) else "filters"
    added = {"pack": pack, count: total, "interleave": 2 if pairs else None, "winograd": winograd}  # pyright: ignore[reportPossiblyUnboundVariable]
    for key, value in added.items():
        if value is None:
            continue
        root.operation.attributes[key] = to_attribute(type(root).attribute_slots[key].kind, value)


def _packed(
    root: ai.MatMulOp | ai.ConvOp, array: np.ndarray, pack: int, winograd: int | None
) -> tuple[np.ndarray, int]:
    """The packed weight and how many columns or filters it holds."""
    if isinstance(root, ai.MatMulOp):
        return pack_columns(array, pack), array.shape[-1]
    if winograd is not None:
        array = transform_filters(array, winograd)
    return pack_filters(array, root.group.value, pack), array.shape[0]


def _hint(value: ir.Value) -> str:
    """A name for the packed weight: that of the weight."""
    owner = value.owner.opview if isinstance(value.owner, ir.Operation) else value.owner
    return f"{owner.key.value}.packed" if isinstance(owner, ai.ConstantOp) else "packed"
