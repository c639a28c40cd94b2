"""ai-cse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from mlir import ir
from mlir.dialects import arith

from aiopt.dialects import ext
from aiopt.passes.base import Pass
from aiopt.passes.rewrite import fused_location
from aiopt.passes.unit import Unit


@dataclass(frozen=True)
class CommonSubexpressionElimination(Pass):
    """Before: two `ai` ops or constants of one name, with equal operands, attributes and result types.
    After: the first, at both locations."""

    name: ClassVar[str] = "ai-cse"
    statistics: ClassVar[Mapping[str, str]] = {"num-cse'd": "Number of operations CSE'd"}

    def run(self, unit: Unit) -> bool:
        found: list[_First] = []
        for region in unit.module.operation.regions:
            for block in region.blocks:
                _run_on_block(block, {}, found)
        repeated = [first for first in found if first.others]
        for first in repeated:
            unit.counts["num-cse'd"] += len(first.others)
            first.op.location = fused_location([first.op.location, *first.others])  # pyright: ignore[reportAttributeAccessIssue]
        return bool(repeated)


@dataclass
class _First:
    """An op that stays, and the locations of those that were the same."""

    op: ir.Operation
    others: list[ir.Location] = field(default_factory=list)


def _run_on_block(block: ir.Block, known: dict[Any, _First], found: list[_First]) -> None:
    """`known` holds what dominates this block; what the block adds is not seen outside it."""
    for op in list(block.operations):
        for region in op.operation.regions:
            for inner in region.blocks:
                _run_on_block(inner, {} if _is_isolated(op) else dict(known), found)
        if isinstance(op, (ext.Operation, arith.ConstantOp)):
            key = _key(op.operation)
            if key in known:
                known[key].others.append(op.location)
                _replace(op.operation, known[key].op)
            else:
                known[key] = _First(op.operation)
                found.append(known[key])


def _replace(op: ir.Operation, first: ir.Operation) -> None:
    for old, new in zip(op.results, first.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


def _key(op: ir.Operation) -> Any:
    attributes = frozenset((name, attribute) for name, attribute in op.attributes.items())
    return op.name, tuple(op.operands), attributes, tuple(result.type for result in op.results)


def _is_isolated(op: ir.OpView) -> bool:
    return op.operation.name == "func.func"
