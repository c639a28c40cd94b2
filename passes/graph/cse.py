"""ai-cse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

    def run(self, unit: Unit) -> None:
        for region in unit.module.operation.regions:
            for block in region.blocks:
                _run_on_block(block, {}, unit)


def _run_on_block(block: ir.Block, known: dict[Any, ir.Operation], unit: Unit) -> None:
    """`known` holds what dominates this block; what the block adds is not seen outside it."""
    for op in list(block.operations):
        for region in op.operation.regions:
            for inner in region.blocks:
                _run_on_block(inner, {} if _is_isolated(op) else dict(known), unit)
        if isinstance(op, (ext.Operation, arith.ConstantOp)):
            key = _key(op.operation)
            first = known.setdefault(key, op.operation)
            if first != op.operation:
                _replace(op.operation, first)
                unit.counts["num-cse'd"] += 1


def _replace(op: ir.Operation, first: ir.Operation) -> None:
    first.location = fused_location([first.location, op.location])  # pyright: ignore[reportAttributeAccessIssue]
    for old, new in zip(op.results, first.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


def _key(op: ir.Operation) -> Any:
    attributes = frozenset((name, attribute) for name, attribute in op.attributes.items())
    return op.name, tuple(op.operands), attributes, tuple(result.type for result in op.results)


def _is_isolated(op: ir.OpView) -> bool:
    return op.operation.name == "func.func"
