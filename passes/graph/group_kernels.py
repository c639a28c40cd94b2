"""ai-group-kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.dialects.ai import InsertOp, MatMulOp, Trait, TransposeOp
from aiopt.dialects.ai.winograd import SIZES
from aiopt.passes.base import FunctionPass
from aiopt.passes.graph import grouping
from aiopt.passes.graph.absorb import Readers, absorb
from aiopt.passes.graph.fuse_layers import LayerFusion
from aiopt.passes.graph.grouping import Kind, Node
from aiopt.passes.remark import MISSED, PASSED, Remark
from aiopt.passes.rewrite import PARTITION, constant_value, defining, has_one_use, users
from aiopt.passes.spec.base import Level
from aiopt.passes.templates.base import Facts
from aiopt.passes.templates.kernel import computes_on_registers, is_root
from aiopt.passes.unit import Unit
from aiopt.support.errors import OptionError, PipelineError
from aiopt.support.fusion import MODES, OFF

GROUP = "ai.group"


@dataclass(frozen=True)
class GroupKernels(FunctionPass):
    """Decide which ops become one kernel (`grouping.py` has the rules).

    Before: `ai` ops. After: each that computes or moves something has `ai.group`, a number its kernel's ops share;
    those share their `ai.partition` too. What a kernel can do as it loads goes to each that reads it (`absorb.py`):
    casts to 16 bits whose operand is also read as it is or is nothing that a kernel computes, transposes and slices of
    the operands of matmuls, parts of the images of convolutions, and all of attention that comes before its last
    matmul. An insert belongs to the kernel of its part, or is one that copies where others read that, too, or no kernel
    computes it.
    Options: max-ops, the most ops in one kernel; fusion, whether a kernel may have several contractions, or folds of
    rows behind them: auto (where it is faster), max (wherever that costs little), off. vector-bits, registers,
    l2-bytes, cores: of the machine.
    """

    name: ClassVar[str] = "ai-group-kernels"
    requires: ClassVar[Level] = Level.GRAPH
    statistics: ClassVar[Mapping[str, str]] = {
        "num-kernels": "Number of kernels",
        "num-fused": "Number of ops that share the kernel of another",
    }
    max_ops: int = 32
    fusion: str = OFF
    vector_bits: int = 128
    registers: int = 16
    l2_bytes: int = 524288
    cores: int = 1

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> None:
        if self.max_ops < 1:
            raise PipelineError(f"{self.name}: option 'max-ops' must be 1 or more, not {self.max_ops}")
        if self.fusion not in MODES:
            raise OptionError(f"{self.name}: option 'fusion' must be one of {', '.join(MODES)}, not '{self.fusion}'")
        readers = absorb(_computing(function), self.max_ops, partial(_is_known, unit=unit))
        computing = _computing(function)
        absorbed = [op for op in computing if op.operation.results[0] in readers]
        inserts = [op for op in computing if isinstance(op, InsertOp)]
        ops = [op for op in computing if op.operation.results[0] not in readers and not isinstance(op, InsertOp)]
        groups = grouping.group(_abstract(ops, readers), self.max_ops)
        if self.fusion != OFF:
            groups = self._join(ops, {op.operation.results[0]: op for op in absorbed}, groups, unit)
        first: dict[int, ext.Operation] = {}
        for op, number in zip(ops, groups, strict=True):
            if number is None:
                continue
            op.operation.attributes[GROUP] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
            leader = first.setdefault(number, op)
            unit.counts["num-kernels" if leader is op else "num-fused"] += 1
            if leader is not op:
                unit.remarks.append(Remark(f"fused {_title(op)} into {_title(leader)}", PASSED, "fused", op))
        for op in reversed(absorbed):
            reader = readers[op.operation.results[0]]
            op.operation.attributes[GROUP] = reader.operation.attributes[GROUP]
            unit.counts["num-fused"] += 1
            unit.remarks.append(Remark(f"fused {_title(op)} into {_title(reader)}", PASSED, "fused", op))
        number = 1 + max((number for number in groups if number is not None), default=-1)
        for op in inserts:
            made = defining(op.input)
            if made is not None and GROUP in made.operation.attributes and has_one_use(op.input):
                op.operation.attributes[GROUP] = made.operation.attributes[GROUP]
            else:  # a kernel that copies
                op.operation.attributes[GROUP] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
                number += 1

    def _join(
        self,
        ops: list[ext.Operation],
        loads: dict[ir.Value, ext.Operation],
        groups: list[int | None],
        unit: Unit,
    ) -> list[int | None]:
        """Make kernels of several contractions; the groups, numbered in the order of their results."""
        facts = Facts(self.vector_bits, self.registers, self.l2_bytes, self.cores, fma=True, winograd=SIZES)
        known = partial(_is_known, unit=unit)
        fusion = LayerFusion(ops, loads, groups, facts, known, self.fusion, self.max_ops)
        for one, other, attempt in fusion.run():
            pair = f"{_title(ops[one])} and {_title(ops[other])}"
            if attempt.plan is not None:
                text = f"fused the layers {pair} in bands of {attempt.plan.rows} rows"
                unit.remarks.append(Remark(text, PASSED, "fused-layers", ops[other]))
            else:
                unit.remarks.append(Remark(f"did not fuse {pair}: {attempt.why}", MISSED, "not-fused", ops[other]))
        last = {number: index for index, number in enumerate(fusion.groups) if number is not None}
        order = {number: place for place, number in enumerate(sorted(last, key=lambda number: last[number]))}
        return [None if number is None else order[number] for number in fusion.groups]


def _computing(function: func.FuncOp) -> list[ext.Operation]:
    return [op for op in ext.operations(function) if isinstance(op, ext.Operation) and not _is_constant(op)]


def _abstract(ops: list[ext.Operation], readers: Readers) -> list[Node]:
    index: dict[ir.Value, int] = {op.operation.results[0]: number for number, op in enumerate(ops)}
    return [_node(op, index, readers) for op in ops]


def _node(op: ext.Operation, index: dict[ir.Value, int], readers: Readers) -> Node:
    (result,) = op.operation.results
    operands = tuple(dict.fromkeys(index[value] for value in _sources(op, readers) if value in index))
    is_output = any(isinstance(user, InsertOp) or not isinstance(user, ext.Operation) for user in users(result))
    placed = op.operation.attributes.get(PARTITION)
    partition = placed.value if isinstance(placed, ir.IntegerAttr) else 0
    node = Node(
        _kind(op),
        ext.type_of(result).shape,
        operands,
        is_output=is_output,
        partition=partition,
        on_registers=is_root(op) or computes_on_registers(op),
        may_turn=isinstance(op, MatMulOp) and is_root(op),
    )
    return _as_row_reduction(op, node) if Trait.REDUCTION in op.traits else node


def _sources(op: ext.Operation, readers: Readers) -> Iterator[ir.Value]:
    """What an op and those it absorbs read from outside."""
    for value in op.operation.operands:
        if value in readers:
            yield from _sources(value.owner.opview, readers)  # pyright: ignore[reportArgumentType]
        else:
            yield value


def _kind(op: ext.Operation) -> Kind:
    if Trait.VIEW in op.traits:
        return Kind.APART
    if isinstance(op, TransposeOp) and list(op.permutation)[-1:] == [len(op.permutation) - 1]:
        return Kind.TURN
    return Kind.ELEMENTWISE if Trait.ELEMENTWISE in op.traits else Kind.ROOT


def _is_known(value: ir.Value, unit: Unit) -> bool:
    return constant_value(value, unit) is not None


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
