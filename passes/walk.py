"""Walks that look at names. They make no OpView of each op, which takes longer than most of what passes ask."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir


def find_op(root: ir.Operation | ir.OpView, is_wanted: Callable[[str], bool]) -> ir.Operation | None:
    """The first op under `root` whose name is wanted; asks once for each name."""
    found: list[ir.Operation] = []
    seen = {root.operation.name}
    advance = ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name in seen:
            return advance
        if not is_wanted(name):
            seen.add(name)
            return advance
        found.append(op)
        return ir.WalkResult.INTERRUPT

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[0] if found else None


def all_ops(root: ir.Operation | ir.OpView) -> list[ir.Operation]:
    """`root` and the ops under it, outer before inner."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def ops_named(root: ir.Operation | ir.OpView, *names: str) -> list[ir.Operation]:
    """The ops under `root` that have one of these names, outer before inner."""
    found: list[ir.Operation] = []
    advance = ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in names:
            found.append(op)
        return advance

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
