"""The table of lowering rules: one function per `ai` op, registered by class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, tensor

from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.builder import broadcast_map, constant, element_type, filled, tensor_type
from aiopt.support.types import TensorType


@dataclass(frozen=True)
class Squeezed:
    """A lowered tensor without the size-1 axes its `ai` type has there (what a reduction with keepdims yields).

    An expand_shape between a reduction and its consumer would end tile-and-fuse; an indexing map does not.
    """

    value: ir.Value
    axes: tuple[int, ...]


Rule = Callable[..., "ir.Value | Squeezed"]
RULES: dict[type[Operation], Rule] = {}


@dataclass
class Operand:
    """An operand on its way down: its `ai` type and either a lowered tensor or the one value of all its elements."""

    type: TensorType
    lowered: ir.Value | Squeezed | None
    splat: float | int | None = None

    @property
    def value(self) -> ir.Value:
        """The lowered tensor in its full rank; a splat is filled in at the current insertion point."""
        if self.lowered is None:
            assert self.splat is not None
            return filled(self.type, self.splat)
        if isinstance(self.lowered, Squeezed):
            return unsqueezed(self.lowered, self.type)
        return self.lowered

    def broadcast(self, out: Sequence[int]) -> tuple[ir.Value, list[ir.AffineExpr]]:
        """The tensor and how loops over `out` index it under numpy's broadcasting rules."""
        exprs = broadcast_map(self.type.shape, out)
        if isinstance(self.lowered, Squeezed):
            axes = self.lowered.axes
            return self.lowered.value, [e for axis, e in enumerate(exprs) if axis not in axes]
        return self.value, exprs

    def scalar(self, kind: ir.Type | None = None) -> ir.Value:
        """The one value of a splat; with a vector type, a vector of it."""
        assert self.splat is not None
        return constant(self.splat, kind or element_type(self.type))


def unsqueezed(squeezed: Squeezed, kind: TensorType) -> ir.Value:
    """The tensor with its size-1 axes put back."""
    return tensor.ExpandShapeOp(
        tensor_type(kind), squeezed.value, reassociation(squeezed, kind.rank), [], list(kind.shape)
    ).result


def reassociation(squeezed: Squeezed, rank: int) -> list[list[int]]:
    """Which axes of the full rank belong to each axis that is left; [] where none is left."""
    groups: list[list[int]] = []
    pending: list[int] = []
    for axis in range(rank):
        pending.append(axis)
        if axis not in squeezed.axes:
            groups.append(pending)
            pending = []
    if groups:
        groups[-1] += pending
    return groups


def lowers(*classes: type[Operation]) -> Callable[[Rule], Rule]:
    """Register a rule `(op, *operands by slot) -> lowered result` for op classes."""

    def register(rule: Rule) -> Rule:
        for cls in classes:
            assert cls not in RULES, f"two lowerings for {cls.OPERATION_NAME}"
            RULES[cls] = rule
        return rule

    return register


def splat_operand(value: ir.Value) -> Operand | None:
    """An operand for a value that is an `arith.constant` of equal elements; None for any other value."""
    owner = value.owner
    if not isinstance(owner, (ir.Operation, ir.OpView)) or not isinstance(owner.opview, arith.ConstantOp):
        return None
    attribute = owner.opview.value
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    return Operand(type_of(value), None, attribute.get_splat_value().value)  # pyright: ignore[reportAttributeAccessIssue]
