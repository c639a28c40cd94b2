"""Running totals: one nest that carries the total along its axis."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, linalg

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.builder import PARALLEL, REDUCTION, dims, empty, filled
from aiopt.passes.lower.linalg.elementwise import cast
from aiopt.passes.lower.linalg.reduction import WIDER
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.types import FLOATS, TensorType


@lowers(ai.CumSumOp, ai.CumProdOp)
def _lower_scan(op: Operation, x: Operand) -> ir.Value:
    """The axis is a reduction loop, which runs in order; beside the result so far it has the total."""
    out, axis = type_of(op.results[0]), op.python_attributes()["axis"]
    element, is_sum = out.element, isinstance(op, ai.CumSumOp)
    acc = WIDER.get(element, element)
    kept = TensorType(tuple(n for a, n in enumerate(out.shape) if a != axis), acc)
    loops = dims(out.rank)
    maps = [loops, loops, [d for a, d in enumerate(loops) if a != axis]]
    kinds = [REDUCTION if a == axis else PARALLEL for a in range(out.rank)]
    inits = [empty(out), filled(kept, 0 if is_sum else 1)]
    nest = linalg.GenericOp(
        [init.type for init in inits],
        [x.value],
        inits,
        ir.ArrayAttr.get([ir.AffineMapAttr.get(ir.AffineMap.get(out.rank, 0, exprs)) for exprs in maps]),
        ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]),
    )
    elements = [value.type.element_type for value in (x.value, *inits)]  # pyright: ignore[reportAttributeAccessIssue]
    block = nest.regions[0].blocks.append(*elements, arg_locs=[ir.Location.unknown()] * 3)
    with ir.InsertionPoint(block):
        value, _, total = block.arguments
        fold = (arith.addf, arith.addi) if is_sum else (arith.mulf, arith.muli)
        total = fold[element not in FLOATS](total, cast(value, element, acc))
        linalg.YieldOp([cast(total, acc, element), total])
    return nest.results[0]
