"""Views of what a contraction computes, moved behind the elementwise ops that read it: one kernel computes all then."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from mlir import ir

from aiopt.dialects import ext
from aiopt.dialects.ai import ReshapeOp, Trait
from aiopt.passes.rewrite import Pattern, Rewriter, defining, users

_FAR = 8  # elementwise ops between a contraction and a view of what follows it


def _sink_reshape(op: ext.Operation, rewriter: Rewriter) -> bool:
    """f(reshape(x), y) -> reshape(f(x, y)) where x comes from a contraction, and y has the same elements beside x's.

    y is reshaped too where it has a place for each element of x; it must not come from a contraction itself.
    """
    (out,) = (ext.type_of(result) for result in op.operation.results)
    operands = list(op.operation.operands)
    view = next((made for value in operands if (made := _view_of_contraction(value, out.shape)) is not None), None)
    if view is None:
        return False
    shape = ext.type_of(view.input).shape
    shapes = [_shape_beside(value, view, shape) for value in operands]
    if any(found is None for found in shapes):
        return False
    moved = [
        value if ext.type_of(value).shape == found else rewriter.create(ReshapeOp, value, shape=found)
        for value, found in zip(operands, shapes, strict=True)
    ]
    attributes = {key: value for key, value in op.python_attributes().items() if key != "operandSegmentSizes"}
    made = rewriter.create(type(op), *moved, **attributes)
    return rewriter.replace(rewriter.create(ReshapeOp, made, shape=out.shape))


def _view_of_contraction(value: ir.Value, shape: Sequence[int]) -> ReshapeOp | None:
    """The reshape that makes the value, if it can move behind all that reads it."""
    made = defining(value)
    if not isinstance(made, ReshapeOp) or ext.type_of(value).shape != tuple(shape):
        return None
    moves = all(isinstance(user, ext.Operation) and Trait.ELEMENTWISE in user.traits for user in users(value))
    return made if moves and _is_of_contraction(made.input) else None


def _is_of_contraction(value: ir.Value, far: int = _FAR) -> bool:
    """True for what a contraction gives, and for elementwise functions of it."""
    made = defining(value)
    if not isinstance(made, ext.Operation) or far == 0:
        return False
    if Trait.CONTRACTION in made.traits:
        return True
    shape = ext.type_of(value).shape
    return Trait.ELEMENTWISE in made.traits and any(
        _is_of_contraction(operand, far - 1) for operand in made.operands if ext.type_of(operand).shape == shape
    )


def _shape_beside(value: ir.Value, view: ReshapeOp, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape in which an operand of what reads the view goes with the elements of what is viewed; None: in none."""
    own, viewed = ext.type_of(value).shape, ext.type_of(view.out).shape
    if value == view.out or (own == viewed and not _is_of_contraction(value)):
        return shape
    if own == viewed:
        made = defining(value)
        same = isinstance(made, ReshapeOp) and ext.type_of(made.input).shape == shape
        return shape if same else None
    pairs = zip(reversed(shape), reversed(viewed), strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    kept = own[next((axis for axis, size in enumerate(own) if size != 1), len(own)) :]
    if len(kept) > common:
        return None
    return own if len(own) <= len(shape) else kept


def patterns(operations: list[type[ext.Operation]]) -> dict[type[ext.Operation], tuple[Pattern, ...]]:
    """The pattern for every elementwise op among these."""
    return dict.fromkeys([op for op in operations if Trait.ELEMENTWISE in op.traits], (_sink_reshape,))
