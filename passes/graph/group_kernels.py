"""ai-group-kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.dialects.ai import CastOp, ConvOp, InsertOp, RelayoutOp, Trait, TransposeOp
from aiopt.dialects.ai.packing import CHANNELS_LAST
from aiopt.dialects.ai.winograd import SIZES
from aiopt.passes.base import FunctionPass
from aiopt.passes.graph import grouping
from aiopt.passes.graph.fuse_layers import LayerFusion
from aiopt.passes.graph.grouping import Kind, Node
from aiopt.passes.remark import MISSED, PASSED, Remark
from aiopt.passes.rewrite import PARTITION, TARGET, constant_value, copy_placement, defining, has_one_use, users
from aiopt.passes.spec.base import Level
from aiopt.passes.templates.base import Facts
from aiopt.passes.templates.kernel import computes_on_registers, is_part, is_root
from aiopt.passes.templates.stages import IMAGE_RANK
from aiopt.passes.unit import Unit
from aiopt.support.errors import OptionError, PipelineError
from aiopt.support.fusion import MODES, OFF
from aiopt.support.types import LOW_FLOATS

GROUP = "ai.group"
FEW_CHANNELS = 4  # of an image whose channels are read where they are, each from a plane of its own


@dataclass(frozen=True)
class GroupKernels(FunctionPass):
    """Decide which ops become one kernel (`grouping.py` has the rules).

    Before: `ai` ops. After: each that computes or moves something has `ai.group`, a number its kernel's ops share;
    those share their `ai.partition` too. A cast to 16 bits whose operand is also read as it is, or is nothing that a
    kernel computes, goes to the kernels of the contractions and transpositions that read it, a copy to each: they round
    what they load.
    Options: max-ops, the most ops in one kernel; fusion, whether a kernel may have several contractions: auto (where
    it is faster), max (wherever that costs little), off. vector-bits, registers, l2-bytes, cores: of the machine.
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
        ops = [op for op in ext.operations(function) if isinstance(op, ext.Operation) and not _is_constant(op)]
        ops = _split_loads(ops, unit)
        inserts = {op.input: op for op in ops if isinstance(op, InsertOp)}
        loads: dict[ir.Value, ext.Operation] = {op.operation.results[0]: op for op in ops if _is_load(op, unit)}
        ops = [op for op in ops if op.operation.results[0] not in loads and op not in inserts.values()]
        groups = grouping.group(_abstract(ops, loads), self.max_ops)
        if self.fusion != OFF:
            groups = self._join(ops, loads, groups, unit)
        first: dict[int, ext.Operation] = {}
        for op, number in zip(ops, groups, strict=True):
            if number is None:
                continue
            op.operation.attributes[GROUP] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
            leader = first.setdefault(number, op)
            unit.counts["num-kernels" if leader is op else "num-fused"] += 1
            if leader is not op:
                unit.remarks.append(Remark(f"fused {_title(op)} into {_title(leader)}", PASSED, "fused", op))
        for value, load in loads.items():
            load.operation.attributes[GROUP] = users(value)[0].operation.attributes[GROUP]
        for value, insert in inserts.items():
            insert.operation.attributes[GROUP] = ir.OpResult(value).owner.attributes[GROUP]

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


def _split_loads(ops: list[ext.Operation], unit: Unit) -> list[ext.Operation]:
    """Give each reader of what is done on loading an op of its own, before it; all ops in order again."""
    made: dict[ir.Operation, list[ext.Operation]] = {}
    split = [op for op in ops if _is_load(op, unit)]
    for op in split:
        for use in list(op.operation.results[0].uses):
            user = use.owner
            attributes, at = op.python_attributes(), ir.InsertionPoint(user)
            load = type(op)(op.operation.operands[0], loc=op.location, ip=at, **attributes)
            copy_placement(user, load)
            user.operation.operands[use.operand_number] = load.operation.results[0]
            made.setdefault(user.operation, []).append(load)
    kept = [op for op in ops if op not in split]
    for op in split:
        op.operation.erase()
    return [each for op in kept for each in [*made.get(op.operation, []), op]]


def _is_load(op: ext.Operation, unit: Unit) -> bool:
    """True for what kernels do themselves with what they read: casts to 16 bits, parts, few channels of images."""
    if isinstance(op, CastOp):
        return _is_cast_on_load(op)
    turns = isinstance(op, RelayoutOp) and op.to.value == CHANNELS_LAST
    if not turns and not is_part(op):
        return False
    return all(_loads_images(user, op, unit) for user in users(op.operation.results[0]))


def _loads_images(user: ir.OpView, op: ext.Operation, unit: Unit) -> bool:
    """True for convolutions of templates that find the channels of an image where they are."""
    result = op.operation.results[0]
    if not isinstance(user, ConvOp) or user.layout is None or user.input != result or not _is_known(user.weight, unit):
        return False
    if not is_root(user) or ext.type_of(result).rank != IMAGE_RANK or _is_elsewhere(user):
        return False
    few = ext.type_of(result).shape[-1] <= FEW_CHANNELS and user.group.value == 1
    return few or not isinstance(op, RelayoutOp)


def _is_elsewhere(op: ir.OpView) -> bool:
    """True if another target than the CPU runs it: templates are the CPU's."""
    target = op.operation.attributes.get(TARGET)
    return target is not None and target != ir.StringAttr.get("cpu")


def _is_known(value: ir.Value, unit: Unit) -> bool:
    return constant_value(value, unit) is not None


def _is_cast_on_load(op: CastOp) -> bool:
    """True for a cast to 16 bits that kernels which read it do themselves, as its operand is there in any case."""
    result, source = op.operation.results[0], op.operation.operands[0]
    if ext.type_of(result).element not in LOW_FLOATS:
        return False
    return not (_rounds(defining(source)) and has_one_use(source)) and all(_loads(user) for user in users(result))


def _rounds(op: ir.OpView | None) -> bool:
    """True for ops whose kernels may end with a cast; other movements copy, and would have to do it twice."""
    if not isinstance(op, ext.Operation) or Trait.VIEW in op.traits:
        return False
    return Trait.MOVEMENT not in op.traits or isinstance(op, (TransposeOp, RelayoutOp))


def _loads(op: ir.OpView) -> bool:
    """True for ops that may begin a kernel with a cast of what they read."""
    return isinstance(op, (TransposeOp, RelayoutOp)) or (
        isinstance(op, ext.Operation) and Trait.CONTRACTION in op.traits
    )


def _abstract(ops: list[ext.Operation], loads: dict[ir.Value, ext.Operation]) -> list[Node]:
    index: dict[ir.Value, int] = {op.operation.results[0]: number for number, op in enumerate(ops)}
    for value, cast in loads.items():
        if cast.operation.operands[0] in index:
            index[value] = index[cast.operation.operands[0]]
    return [_node(op, index) for op in ops]


def _node(op: ext.Operation, index: dict[ir.Value, int]) -> Node:
    (result,) = op.operation.results
    operands = tuple(index[value] for value in op.operation.operands if value in index)
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
