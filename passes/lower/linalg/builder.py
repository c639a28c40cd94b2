"""Building linalg on tensors from Python: the one place that knows how a `linalg.generic` is spelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, linalg, tensor

from aiopt.dialects.ext import to_ir
from aiopt.support.types import TensorType

Scalar = ir.Value
Body = Callable[..., Scalar]

PARALLEL, REDUCTION = "parallel", "reduction"
_STORAGE = {"i1": "i8", "ui8": "i8", "ui16": "i16", "ui32": "i32", "ui64": "i64"}


def stored(kind: TensorType) -> TensorType:
    """The type a tensor has from level TENSOR on: bool takes a byte, integers are signless."""
    return TensorType(kind.shape, _STORAGE.get(kind.element, kind.element))


def elements_stored_as(element: str) -> list[str]:
    """The element types, other than itself, that a signless integer type stands for from level TENSOR on."""
    return [source for source, memory in _STORAGE.items() if memory == element]


def element_type(kind: TensorType) -> ir.Type:
    """The element type in memory."""
    return ir.Type.parse(_STORAGE.get(kind.element, kind.element))


def is_float(kind: ir.Type) -> bool:
    """True for a float type and for vectors of one."""
    return isinstance(kind.element_type if isinstance(kind, ir.VectorType) else kind, ir.FloatType)


def constant(value: float | int, element: ir.Type) -> Scalar:
    """A constant of an element type; of a vector type, all its elements equal."""
    if isinstance(element, ir.VectorType):
        splat = ir.DenseElementsAttr.get_splat(element, _attribute(value, element.element_type))
        return arith.ConstantOp(element, splat).result  # pyright: ignore[reportArgumentType]
    return arith.ConstantOp(element, _attribute(value, element)).result  # pyright: ignore[reportArgumentType]


def _attribute(value: float | int, element: ir.Type) -> ir.Attribute:
    if isinstance(element, ir.FloatType):
        return ir.FloatAttr.get(element, float(value))
    number = int(value)  # the bindings take 64 bits as signed ones, whatever the type
    return ir.IntegerAttr.get(element, number - (1 << 64) if number >> 63 > 0 else number)


def empty(kind: TensorType) -> ir.Value:
    """An uninitialised tensor."""
    return tensor.EmptyOp(list(kind.shape), element_type(kind)).result


def filled(kind: TensorType, value: float | int) -> ir.Value:
    """A tensor whose elements all have one value."""
    return linalg.fill(constant(value, element_type(kind)), outs=[empty(kind)])


def dims(count: int) -> list[ir.AffineExpr]:
    """The loop variables d0 ... of a nest."""
    return [ir.AffineDimExpr.get(i) for i in range(count)]


def zero() -> ir.AffineExpr:
    """The constant index 0."""
    return ir.AffineConstantExpr.get(0)


def broadcast_map(shape: Sequence[int], out: Sequence[int]) -> list[ir.AffineExpr]:
    """How an operand of `shape` is indexed by the loops over `out` under numpy's broadcasting rules."""
    loops = dims(len(out))[len(out) - len(shape) :] if shape else []
    target = list(out)[len(out) - len(shape) :]
    return [zero() if have == 1 and want != 1 else d for d, have, want in zip(loops, shape, target, strict=True)]


def generic(
    inputs: Sequence[tuple[ir.Value, Sequence[ir.AffineExpr]]],
    init: tuple[ir.Value, Sequence[ir.AffineExpr]],
    iterators: Sequence[str],
    body: Body,
) -> ir.Value:
    """A `linalg.generic` with one result. `body` gets the inputs' scalars and last the result's so far.

    Where an operand has no elements the nest has no iterations: the result is `init`, and there is no op.
    """
    if any(0 in value.type.shape for value, _ in [*inputs, init]):  # pyright: ignore[reportAttributeAccessIssue]
        return init[0]
    count = len(iterators)
    maps = [ir.AffineMap.get(count, 0, list(exprs)) for _, exprs in [*inputs, init]]
    kinds = [ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in iterators]
    op = linalg.GenericOp(
        [init[0].type],
        [value for value, _ in inputs],
        [init[0]],
        ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
        ir.ArrayAttr.get(kinds),
    )
    elements = [value.type.element_type for value, _ in [*inputs, init]]  # pyright: ignore[reportAttributeAccessIssue]
    block = op.regions[0].blocks.append(*elements, arg_locs=[ir.Location.unknown()] * len(elements))
    with ir.InsertionPoint(block):
        linalg.YieldOp([body(*block.arguments)])
    return op.result


def pointwise(inputs: Sequence[tuple[ir.Value, Sequence[ir.AffineExpr]]], out: TensorType, body: Body) -> ir.Value:
    """One result element from each set of input elements; `body` gets the inputs' scalars only."""
    init = (empty(out), dims(out.rank))
    return generic(inputs, init, [PARALLEL] * out.rank, lambda *scalars: body(*scalars[:-1]))


def tensor_type(kind: TensorType) -> ir.RankedTensorType:
    """The ranked tensor type in memory form."""
    return to_ir(stored(kind))


def memref_type(kind: TensorType) -> ir.MemRefType:
    """The buffer type of a tensor, identity layout."""
    return ir.MemRefType.get(list(kind.shape), element_type(kind))
