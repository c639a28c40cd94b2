"""What templates see of a kernel: one contraction or pooling, and elementwise ops on its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from aiopt.dialects import ai
from aiopt.dialects.ai import Trait
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.elementwise import BINARY, UNARY
from aiopt.passes.lower.linalg.rules import splat_operand
from aiopt.passes.templates.access import FLOAT_ELEMENTS, Access, plain_access
from aiopt.support.types import LOW_FLOATS, TensorType

ACCUMULATOR = "f32"
Weighted = ai.MatMulOp | ai.ConvOp
Root = Weighted | ai.MaxPoolOp | ai.AvgPoolOp
POINTWISE = frozenset(UNARY) | frozenset(BINARY) | {ai.CastOp, ai.SelectOp}


@dataclass(frozen=True)
class Contraction:
    """A matmul, conv or pooling on arguments of the kernel or what it loads from them, and elementwise ops that follow.

    Operands of the root may be arguments seen through casts; those of a matmul through transposes and slices, too, and
    the image of a convolution through a relayout or a slice. The left operand of a matmul may be the softmax of another
    contraction's result along the last axis: attention. Each op of the epilogue has the shape of the root's result; its
    operands are results of ops before it, arguments that broadcast, or parts of them, and equal-element constants. At
    the end the result of a matmul may be transposed. In a kernel of several stages, what earlier ones compute takes the
    place of arguments.
    """

    root: Root
    epilogue: tuple[Operation, ...]
    packable: bool  # the weight (rhs) is packed, or can be: its value is known wherever the kernel is called
    loads: dict[ir.Value, Access] = field(default_factory=dict)  # operands that are not arguments as they are
    scores: Contraction | None = None  # whose softmax the left operand is
    turn: ai.TransposeOp | None = None  # of the result
    insertion: ai.InsertOp | None = None  # the result is written into a part of a larger buffer
    rows: int | None = None  # how many of the image's or matrix's are computed at a time

    def source(self, operand: ir.Value) -> ir.Value:
        """The argument that an operand is loaded from."""
        return self.access(operand).argument

    def access(self, operand: ir.Value) -> Access:
        """How an operand is loaded."""
        return self.loads[operand] if operand in self.loads else plain_access(operand)

    @property
    def turned(self) -> bool:
        """True if the root reads an operand whose channels are not next to each other in memory."""
        return self._loads_through(ai.RelayoutOp)

    @property
    def casts(self) -> bool:
        """True if it loads values in another type than it computes with."""
        return self._loads_through(ai.CastOp)

    def _loads_through(self, kind: type[Operation]) -> bool:
        return any(isinstance(op, kind) for access in self.loads.values() for op in access.through)

    @property
    def out(self) -> TensorType:
        return type_of(self.root.operation.results[0])

    @property
    def pack(self) -> int | None:
        """Columns or filters in a block of the weight; None if it is not packed."""
        given = self.root.pack if isinstance(self.root, Weighted) else None
        return None if given is None else ir.IntegerAttr(given).value

    @property
    def interleave(self) -> bool:
        """True if the weight is packed in pairs of rows."""
        return isinstance(self.root, Weighted) and self.root.interleave is not None

    @property
    def weighted(self) -> Weighted:
        """The root of a kernel that has weights."""
        assert isinstance(self.root, Weighted), "asked of kernels that are known to"
        return self.root

    @property
    def winograd(self) -> int | None:
        """The size of the tiles that the weight is transformed for; None if it is not."""
        given = self.root.winograd if isinstance(self.root, ai.ConvOp) else None
        return None if given is None else given.value

    @property
    def has_low_result(self) -> bool:
        """True if sums cannot be kept in the result's buffer until the next part of a reduction."""
        return type_of(self.result).element in LOW_FLOATS

    @property
    def computed(self) -> ir.Value:
        """The value after the epilogue."""
        return (self.epilogue[-1] if self.epilogue else self.root).operation.results[0]

    @property
    def result(self) -> ir.Value:
        """The value the kernel returns, or inserts in what it returns."""
        return self.computed if self.turn is None else self.turn.out

    def side_operands(self) -> list[ir.Value]:
        """What the epilogue reads from memory."""
        inside = {op.operation.results[0] for op in (self.root, *self.epilogue)}
        operands = [value for op in self.epilogue for value in op.operation.operands]
        return [value for value in dict.fromkeys(operands) if value not in inside and splat_operand(value) is None]


def weight_of(root: Weighted) -> ir.Value:
    """The operand that packing rearranges."""
    return root.rhs if isinstance(root, ai.MatMulOp) else root.weight


def is_pointwise(op: ai.ConvOp) -> bool:
    """A dense convolution that looks at one pixel for each pixel of its result, which has as many."""
    if op.group.value != 1:
        return False
    shape = type_of(op.weight).shape
    kernel = shape[1:-2] if op.pack is not None else shape[2:]
    return all(size == 1 for size in [*kernel, *op.strides]) and not any(op.pads)


def is_root(op: Operation) -> bool:
    """True if it is one that templates are for (whether there is one depends on its shapes, too)."""
    if isinstance(op, (ai.MaxPoolOp, ai.AvgPoolOp)):
        return op.layout is not None and len(list(op.kernel)) == 2 and type_of(op.input).element in FLOAT_ELEMENTS
    return isinstance(op, Weighted) and str(op.acc.value) == ACCUMULATOR


def computes_on_registers(op: Operation) -> bool:
    """True if templates know the op, on the types of these operands, as a step of an epilogue."""
    operands, result = list(op.operation.operands), op.operation.results[0]
    if isinstance(op, ai.SelectOp):
        operands = operands[1:]  # what decides is bool
    return type(op) in POINTWISE and all(type_of(value).element in FLOAT_ELEMENTS for value in [*operands, result])


def is_part(op: Operation) -> bool:
    """True for a slice whose elements lie as those of the whole: one of the last axis, or one that is whole memory."""
    if not isinstance(op, ai.SliceOp) or any(step != 1 for step in op.steps):
        return False
    return keeps_lines(type_of(op.input).shape, type_of(op.out).shape)


def keeps_lines(whole: Sequence[int], part: Sequence[int]) -> bool:
    """True if a part of this shape differs along one axis, the last one or one with nothing but 1 before it."""
    axes = [axis for axis, (total, size) in enumerate(zip(whole, part, strict=True)) if total != size]
    return len(axes) <= 1 and all(axis == len(whole) - 1 or set(whole[:axis]) <= {1} for axis in axes)


assert all(op.traits & {Trait.ELEMENTWISE} for op in POINTWISE), "what the tables hold is elementwise"
