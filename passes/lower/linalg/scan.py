"""Running totals: one nest that carries the total along its axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, linalg

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.builder import PARALLEL, REDUCTION, Scalar, dims, empty, filled
from aiopt.passes.lower.linalg.elementwise import cast
from aiopt.passes.lower.linalg.reduction import WIDER
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.types import FLOATS, TensorType


@lowers(ai.CumSumOp, ai.CumProdOp)
def _lower_scan(op: Operation, x: Operand) -> ir.Value:
    out = type_of(op.results[0])
    element, is_sum = out.element, isinstance(op, ai.CumSumOp)
    acc = WIDER.get(element, element)
    fold = ((arith.addf, arith.addi) if is_sum else (arith.mulf, arith.muli))[element not in FLOATS]

    def body(value: Scalar, total: Scalar) -> tuple[Scalar, Scalar]:
        total = fold(total, cast(value, element, acc))
        return cast(total, acc, element), total

    return carried([x.value], out, acc, 0 if is_sum else 1, op.python_attributes()["axis"], body)


def carried(
    inputs: Sequence[ir.Value],
    out: TensorType,
    element: str,
    start: float,
    axis: int,
    body: Callable[..., tuple[Scalar, Scalar]],
) -> ir.Value:
    """A nest over out whose loop over `axis` runs in order (as a reduction) and carries a scalar of type `element`.

    inputs: tensors of out's shape. body: gets their scalars and last what is carried, at first `start`; gives the
    element of the result and what is carried on.
    """
    kept = TensorType(tuple(n for a, n in enumerate(out.shape) if a != axis), element)
    loops = dims(out.rank)
    maps = [*[loops] * (len(inputs) + 1), [d for a, d in enumerate(loops) if a != axis]]
    kinds = [REDUCTION if a == axis else PARALLEL for a in range(out.rank)]
    inits = [empty(out), filled(kept, start)]
    nest = linalg.GenericOp(
        [init.type for init in inits],
        list(inputs),
        inits,
        ir.ArrayAttr.get([ir.AffineMapAttr.get(ir.AffineMap.get(out.rank, 0, exprs)) for exprs in maps]),
        ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]),
    )
    elements = [value.type.element_type for value in (*inputs, *inits)]  # pyright: ignore[reportAttributeAccessIssue]
    block = nest.regions[0].blocks.append(*elements, arg_locs=[ir.Location.unknown()] * len(elements))
    with ir.InsertionPoint(block):
        *values, _, last = block.arguments
        linalg.YieldOp(list(body(*values, last)))
    return nest.results[0]
