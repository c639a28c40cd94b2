"""What templates see of a kernel: one contraction or pooling, and elementwise ops on its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects import ai
from aiopt.dialects.ai import Trait
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.elementwise import BINARY, UNARY
from aiopt.passes.lower.linalg.rules import splat_operand
from aiopt.passes.rewrite import SMALL_BYTES
from aiopt.support.types import LOW_FLOATS, TensorType

ACCUMULATOR = "f32"
ELEMENTS = LOW_FLOATS | {ACCUMULATOR}  # of what is in memory; in registers all is f32
Weighted = ai.MatMulOp | ai.ConvOp
Root = Weighted | ai.MaxPoolOp | ai.AvgPoolOp
POINTWISE = frozenset(UNARY) | frozenset(BINARY) | {ai.CastOp}


@dataclass(frozen=True)
class Contraction:
    """A matmul, conv or pooling on arguments of the kernel or what it loads from them, and elementwise ops that follow.

    Each op of the epilogue has the shape of the root's result; its operands are results of ops before it, arguments
    that broadcast, and equal-element constants. In a kernel of several stages, what earlier ones compute takes the
    place of arguments.
    """

    root: Root
    epilogue: tuple[Operation, ...]
    packable: bool  # the weight (rhs) is packed, or can be: its value is known wherever the kernel is called
    loads: frozenset[ir.Value] = frozenset()  # operands that are arguments in another type, in part, or turned
    insertion: ai.InsertOp | None = None  # the result is written into a part of a larger buffer
    rows: int | None = None  # of the result of a convolution, how many are computed at a time

    def source(self, operand: ir.Value) -> ir.Value:
        """The argument that an operand is loaded from."""
        return ir.OpResult(operand).owner.operands[0] if operand in self.loads else operand

    @property
    def turned(self) -> bool:
        """True if the root reads an operand whose channels are not next to each other in memory."""
        return any(isinstance(ir.OpResult(value).owner.opview, ai.RelayoutOp) for value in self.loads)

    @property
    def casts(self) -> bool:
        """True if it loads values in another type than it computes with."""
        return any(isinstance(ir.OpResult(value).owner.opview, ai.CastOp) for value in self.loads)

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
    def result(self) -> ir.Value:
        """The value the kernel returns."""
        return (self.epilogue[-1] if self.epilogue else self.root).operation.results[0]

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
        return op.layout is not None and len(list(op.kernel)) == 2 and type_of(op.input).element in ELEMENTS
    return isinstance(op, Weighted) and str(op.acc.value) == ACCUMULATOR


def computes_on_registers(op: Operation) -> bool:
    """True if templates know the op, on the types of these operands, as a step of an epilogue."""
    values = [*op.operation.operands, *op.operation.results]
    return type(op) in POINTWISE and all(type_of(value).element in ELEMENTS for value in values)


def read_contraction(function: func.FuncOp, known: frozenset[int]) -> Contraction | None:
    """The kernel as a contraction with an epilogue; None if it is something else.

    known: the arguments (by number) that are constants of known value at every call.
    """
    stages = read_stages(function, known)
    return stages[0] if stages is not None and len(stages) == 1 else None


def read_stages(function: func.FuncOp, known: frozenset[int]) -> list[Contraction] | None:
    """The kernel as contractions with epilogues, which read what earlier ones give; None if it is something else."""
    *ops, end = function.entry_block.operations
    ops = [op for op in ops if not isinstance(op, arith.ConstantOp)]
    if len(end.operands) != 1 or not all(isinstance(op, Operation) for op in ops):
        return None
    read = [value for op in ops if isinstance(op, Operation) and is_root(op) for value in op.operation.operands]
    if any(splat_operand(value) is not None for value in read):
        return None
    return stages_of(ops, end.operands[0], lambda v: isinstance(v, ir.BlockArgument) and v.arg_number in known)  # pyright: ignore[reportArgumentType]


def stages_of(
    ops: Sequence[Operation], returned: ir.Value, is_known: Callable[[ir.Value], bool]
) -> list[Contraction] | None:
    """The same for ops that are one kernel or could be, of which `returned` is the result.

    is_known: says whether a value that they read from outside is a constant of known value.
    """
    ops = list(ops)
    insertion = ops[-1] if ops and isinstance(ops[-1], ai.InsertOp) and ops[-1].out == returned else None
    ops = ops if insertion is None else ops[:-1]
    reader = _Reader(is_known, frozenset(op.operation.results[0] for op in ops))
    if not all(reader.take(op) for op in ops):
        return None
    stages = reader.finish()
    last = returned if insertion is None else insertion.input
    if not stages or stages[-1].result != last:
        return None
    if any(reader.read_outside(number) != {stage.result} for number, stage in enumerate(stages[:-1])):
        return None
    return [*stages[:-1], replace(stages[-1], insertion=insertion)]


@dataclass
class _Reader:
    """Sorts the ops of a kernel into stages, in order."""

    is_known: Callable[[ir.Value], bool]
    inside: frozenset[ir.Value]
    loads: dict[ir.Value, Operation] = field(default_factory=dict)
    stages: list[tuple[Root, list[Operation]]] = field(default_factory=list)
    stage_of: dict[ir.Value, int] = field(default_factory=dict)

    def take(self, op: Operation) -> bool:
        """Put an op where it belongs; False if it belongs nowhere."""
        result = op.operation.results[0]
        if self._is_load(op):
            self.loads[result] = op
            return True
        if is_root(op):
            self.stages.append((op, []))  # pyright: ignore[reportArgumentType]
            self.stage_of[result] = len(self.stages) - 1
            return self._takes_root(op)  # pyright: ignore[reportArgumentType]
        if not self.stages:
            return False
        number = max((self.stage_of[value] for value in op.operation.operands if value in self.stage_of), default=0)
        root, epilogue = self.stages[number]
        epilogue.append(op)
        self.stage_of[result] = number
        return _is_pointwise(op, type_of(root.operation.results[0]), self.loads)

    def _is_load(self, op: Operation) -> bool:
        if op.operation.operands[0] in self.inside:
            return False
        return is_part(op) or isinstance(op, ai.RelayoutOp) or (isinstance(op, ai.CastOp) and not self.stages)

    def _takes_root(self, root: Root) -> bool:
        read = list(root.operation.operands)
        moved = [value for value in read if value in self.loads and not isinstance(self.loads[value], ai.CastOp)]
        if moved and (moved != read[:1] or not isinstance(root, ai.ConvOp) or root.layout is None):
            return False
        if read[0] in self.stage_of:
            read = read[1:]
        if any(_is_cloned(value) for value in read):
            return False
        if any(value in self.inside and value not in self.loads for value in read):
            return False
        if not all(type_of(v).element in ELEMENTS for v in read):
            return False
        values = [*root.operation.operands, *root.operation.results]
        return not any(type_of(value).size == 0 for value in values)  # loops without iterations

    def finish(self) -> list[Contraction]:
        return [self._contraction(root, tuple(epilogue)) for root, epilogue in self.stages]

    def _contraction(self, root: Root, epilogue: tuple[Operation, ...]) -> Contraction:
        packable = isinstance(root, Weighted) and (root.pack is not None or self._is_packable(root))
        read = [value for op in (root, *epilogue) for value in op.operation.operands]
        return Contraction(root, epilogue, packable, frozenset(value for value in read if value in self.loads))

    def _is_packable(self, root: Weighted) -> bool:
        weight = weight_of(root)
        is_known = weight not in self.inside and self._reads(weight) == 1 and self.is_known(weight)
        return _takes_packed(root) and is_known

    def _reads(self, value: ir.Value) -> int:
        ops = [op for root, epilogue in self.stages for op in (root, *epilogue)]
        return sum(operand == value for op in ops for operand in op.operation.operands)

    def read_outside(self, number: int) -> set[ir.Value]:
        """Which values of a stage later ones read."""
        later = [op for root, epilogue in self.stages[number + 1 :] for op in (root, *epilogue)]
        read = [value for op in later for value in op.operation.operands]
        return {value for value in read if self.stage_of.get(value) == number}


def _takes_packed(root: Weighted) -> bool:
    """With channels first, vectors are of pixels: weights are read an element at a time, as they are."""
    return isinstance(root, ai.MatMulOp) or root.layout is not None


def _is_cloned(value: ir.Value) -> bool:
    """True for a constant that a kernel has in itself, and not as an argument."""
    return splat_operand(value) is not None and type_of(value).nbytes <= SMALL_BYTES


def is_part(op: Operation) -> bool:
    """True for a slice whose elements lie as those of the whole: one of the last axis, or one that is whole memory."""
    if not isinstance(op, ai.SliceOp) or any(step != 1 for step in op.steps):
        return False
    return keeps_lines(type_of(op.input).shape, type_of(op.out).shape)


def keeps_lines(whole: Sequence[int], part: Sequence[int]) -> bool:
    """True if a part of this shape differs along one axis, the last one or one with nothing but 1 before it."""
    axes = [axis for axis, (total, size) in enumerate(zip(whole, part, strict=True)) if total != size]
    return len(axes) <= 1 and all(axis == len(whole) - 1 or set(whole[:axis]) <= {1} for axis in axes)


def _is_pointwise(op: Operation, out: TensorType, loads: Mapping[ir.Value, Operation]) -> bool:
    if not computes_on_registers(op) or type_of(op.operation.results[0]).shape != out.shape:
        return False
    if any(isinstance(loads.get(value), ai.RelayoutOp) for value in op.operation.operands):
        return False
    return all(_is_side_operand(value) for value in op.operation.operands)


def _is_side_operand(value: ir.Value) -> bool:
    """A value the epilogue can have in registers: an op's result, a constant of equal elements, an argument."""
    owner = value.owner.opview if isinstance(value, ir.OpResult) else None
    return not isinstance(owner, arith.ConstantOp) or splat_operand(value) is not None


assert all(op.traits & {Trait.ELEMENTWISE} for op in POINTWISE), "what the tables hold is elementwise"
