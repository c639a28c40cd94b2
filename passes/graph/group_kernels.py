"""ai-group-kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.dialects.ai import Trait
from aiopt.passes.base import FunctionPass
from aiopt.passes.graph import grouping
from aiopt.passes.graph.grouping import Kind, Node
from aiopt.passes.rewrite import PARTITION, users
from aiopt.passes.spec.base import Level
from aiopt.passes.templates.kernel import computes_on_registers, is_root
from aiopt.passes.unit import Unit
from aiopt.support.errors import OptionError

GROUP = "ai.group"


@dataclass(frozen=True)
class GroupKernels(FunctionPass):
    """Decide which ops become one kernel (`grouping.py` has the rules).

    Before: `ai` ops. After: each that computes or moves something has `ai.group`, a number its kernel's ops share;
    those share their `ai.partition` too.
    Options: max-ops, the most ops in one kernel.
    """

    name: ClassVar[str] = "ai-group-kernels"
    requires: ClassVar[Level] = Level.GRAPH
    max_ops: int = 32

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> None:
        if self.max_ops < 1:
            raise OptionError(f"{self.name}: option 'max-ops' must be 1 or more, not {self.max_ops}")
        ops = [op for op in ext.operations(function) if isinstance(op, ext.Operation) and not _is_constant(op)]
        groups = grouping.group(_abstract(ops), self.max_ops)
        first: dict[int, ext.Operation] = {}
        for op, number in zip(ops, groups, strict=True):
            if number is None:
                continue
            op.operation.attributes[GROUP] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
            leader = first.setdefault(number, op)
            if leader is not op:
                unit.remarks.append(f"fused {_title(op)} into {_title(leader)}")


def _abstract(ops: list[ext.Operation]) -> list[Node]:
    index: dict[ir.Value, int] = {op.operation.results[0]: number for number, op in enumerate(ops)}
    return [_node(op, index) for op in ops]


def _node(op: ext.Operation, index: dict[ir.Value, int]) -> Node:
    (result,) = op.operation.results
    operands = tuple(index[value] for value in op.operation.operands if value in index)
    is_output = any(not isinstance(user, ext.Operation) for user in users(result))
    placed = op.operation.attributes.get(PARTITION)
    partition = placed.value if isinstance(placed, ir.IntegerAttr) else 0
    node = Node(
        _kind(op),
        ext.type_of(result).shape,
        operands,
        is_output=is_output,
        partition=partition,
        on_registers=is_root(op) or computes_on_registers(op),
    )
    return _as_row_reduction(op, node) if Trait.REDUCTION in op.traits else node


def _kind(op: ext.Operation) -> Kind:
    if Trait.VIEW in op.traits:
        return Kind.APART
    return Kind.ELEMENTWISE if Trait.ELEMENTWISE in op.traits else Kind.ROOT


def _as_row_reduction(op: ext.Operation, node: Node) -> Node:
    """The node of a reduction; it works on rows if its axes are the last ones."""
    shape, axes = ext.type_of(op.operation.operands[0]).shape, op.python_attributes()["axes"]
    kept = len(shape) - len(axes)
    if not axes or list(axes) != list(range(kept, len(shape))):
        return node
    return replace(node, kind=Kind.ROW_REDUCTION, reduced=shape, kept=kept)


def _is_constant(op: ext.Operation) -> bool:
    return Trait.CONSTANT in op.traits


def _title(op: ext.Operation) -> str:
    return "+".join(ext.node_names(op.location)) or op.OPERATION_NAME
