"""What templates see of a kernel: one contraction or pooling, and elementwise ops on its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects import ai
from aiopt.dialects.ai import Trait
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.elementwise import BINARY, UNARY
from aiopt.passes.lower.linalg.rules import splat_operand
from aiopt.passes.templates.access import FLOAT_ELEMENTS, Access, read_access, reads_matrix
from aiopt.support.types import LOW_FLOATS, TensorType

ACCUMULATOR = "f32"
Weighted = ai.MatMulOp | ai.ConvOp
Root = Weighted | ai.MaxPoolOp | ai.AvgPoolOp
POINTWISE = frozenset(UNARY) | frozenset(BINARY) | {ai.CastOp, ai.SelectOp}


@dataclass(frozen=True)
class Contraction:
    """A matmul, conv or pooling on arguments of the kernel, and the elementwise ops that follow, in order.

    Operands of the root may be arguments seen through casts and, for a matmul, transposes and slices. The left operand
    of a matmul may be the softmax of another contraction's result along the last axis: attention. Each op of the
    epilogue has the shape of the root's result; its operands are results of ops before it, arguments that broadcast,
    and equal-element constants. At the end the result may be transposed.
    """

    root: Root
    epilogue: tuple[Operation, ...]
    packable: bool  # the weight (rhs) is packed, or can be: its value is known wherever the kernel is called
    loads: dict[ir.Value, Access] = field(default_factory=dict)  # operands of the root that are not arguments
    scores: Contraction | None = None  # whose softmax the left operand is
    turn: ai.TransposeOp | None = None  # of the result

    def source(self, operand: ir.Value) -> ir.Value:
        """The argument that an operand of the root is loaded from."""
        return self.loads[operand].argument if operand in self.loads else operand

    def access(self, operand: ir.Value) -> Access:
        """How an operand of the root is loaded."""
        return self.loads[operand] if operand in self.loads else read_access(operand, 0)

    @property
    def moves(self) -> bool:
        """True if an operand or the result is not read or written in its own order."""
        return self.turn is not None or not all(access.is_plain for access in self.loads.values())

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
        """The value the kernel returns."""
        return self.computed if self.turn is None else self.turn.out

    def side_operands(self) -> list[ir.Value]:
        """The arguments that the epilogue reads."""
        operands = [value for op in self.epilogue for value in op.operation.operands]
        return [value for value in dict.fromkeys(operands) if isinstance(value, ir.BlockArgument)]


def weight_of(root: Weighted) -> ir.Value:
    """The operand that packing rearranges."""
    return root.rhs if isinstance(root, ai.MatMulOp) else root.weight


def is_pointwise(op: ai.ConvOp) -> bool:
    """A dense convolution that looks at one pixel for each pixel of its result, which has as many."""
    return sees_pixels(op) and all(stride == 1 for stride in op.strides)


def sees_pixels(op: ai.ConvOp) -> bool:
    """A dense convolution that looks at one pixel for each pixel of its result."""
    if op.group.value != 1:
        return False
    shape = type_of(op.weight).shape
    kernel = shape[1:-2] if op.pack is not None else shape[2:]
    return all(size == 1 for size in kernel) and not any(op.pads)


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


def read_contraction(function: func.FuncOp, known: frozenset[int]) -> Contraction | None:
    """The kernel as a contraction with an epilogue; None if it is something else.

    known: the arguments (by number) that are constants of known value at every call.
    """
    ops = [op for op in function.entry_block.operations if not isinstance(op, (arith.ConstantOp, func.ReturnOp))]
    *_, end = function.entry_block.operations
    turn = ops[-1] if len(ops) > 1 and isinstance(ops[-1], ai.TransposeOp) else None
    if turn is not None and turn.permutation[len(turn.permutation) - 1] != len(turn.permutation) - 1:
        return None  # the vectors of a tile would not be stored as such
    found = _read(ops if turn is None else ops[:-1], known, turn)
    return found if found is not None and list(end.operands) == [found.result] else None


def _read(
    ops: Sequence[ir.OpView], known: frozenset[int], turn: ai.TransposeOp | None, inner: bool = False
) -> Contraction | None:
    """inner: what the root reads is read by no one else, nor is it the softmax of another contraction."""
    place = next((i for i in reversed(range(len(ops))) if isinstance(ops[i], Root)), None)
    root = None if place is None else ops[place]
    if place is None or not isinstance(root, Root) or not is_root(root):
        return None
    scores = None if inner else _read_scores(root, ops[:place])
    read = list(root.operation.operands)[0 if scores is None else 1 :]
    accesses = {value: read_access(value) for value in read}
    before = {op.operation for access in accesses.values() for op in access.through}
    before |= frozenset() if scores is None else scores.ops
    if before != {op.operation for op in ops[:place]} or not all(
        _is_read(root, value, access) for value, access in accesses.items()
    ):
        return None
    if any(type_of(value).size == 0 for value in (*root.operation.operands, *root.operation.results)):
        return None  # loops without iterations
    epilogue = tuple(op for op in ops[place + 1 :] if isinstance(op, Operation))
    loads = {value: access for value, access in accesses.items() if access.through}
    contraction = None if scores is None else scores.contraction
    found = Contraction(root, epilogue, _is_packable(root, known), loads, contraction, turn)
    whole = len(epilogue) == len(ops) - place - 1 and all(_is_pointwise(op, found.out) for op in epilogue)
    return found if whole else None


@dataclass(frozen=True)
class _Scores:
    """The contraction whose softmax a matmul reads, and all ops between its arguments and that matmul."""

    contraction: Contraction
    ops: frozenset[ir.Operation]


def _read_scores(root: Root, ops: Sequence[ir.OpView]) -> _Scores | None:
    """The scores of attention; None if the left operand is nothing of that kind."""
    if not isinstance(root, ai.MatMulOp):
        return None
    softmax, casts = uncast(root.lhs)
    if not isinstance(softmax, ai.SoftmaxOp) or softmax.axis.value != type_of(softmax.input).rank - 1:
        return None
    needed = _needed(softmax.input)
    found = _read([op for op in ops if op.operation in needed], frozenset(), None, inner=True)
    if found is None or found.result != softmax.input:
        return None
    return _Scores(found, frozenset(needed | {softmax.operation, *(op.operation for op in casts)}))


def uncast(value: ir.Value) -> tuple[ir.OpView | None, list[ir.OpView]]:
    """What computes a value but for casts among floats, and these casts; None for an argument."""
    casts: list[ir.OpView] = []
    while True:
        owner = None if isinstance(value, ir.BlockArgument) else ir.OpResult(value).owner.opview
        if not isinstance(owner, ai.CastOp) or not computes_on_registers(owner):
            return owner, casts
        casts.append(owner)
        value = owner.input


def _needed(value: ir.Value) -> set[ir.Operation]:
    """All ops a value is computed by."""
    found: set[ir.Operation] = set()
    work = [value]
    while work:
        owner = work.pop().owner
        if isinstance(owner, ir.Block) or owner.operation in found:
            continue
        if isinstance(owner.opview, Operation):
            found.add(owner.operation)
            work.extend(owner.operation.operands)
    return found


def _is_read(root: Root, operand: ir.Value, access: Access) -> bool:
    """True if the loops of a contraction can load an operand so."""
    if not isinstance(access.argument, ir.BlockArgument) or type_of(access.argument).element not in FLOAT_ELEMENTS:
        return False
    if access.is_plain or not isinstance(root, ai.MatMulOp):
        return access.is_plain
    return reads_matrix(access) and (root.pack is None or operand != root.rhs)


def _is_packable(root: Root, known: frozenset[int]) -> bool:
    if not isinstance(root, Weighted) or root.pack is not None:
        return isinstance(root, Weighted)
    weight = weight_of(root)
    is_known = isinstance(weight, ir.BlockArgument) and _is_single_use(weight) and weight.arg_number in known
    return _takes_packed(root) and is_known


def _takes_packed(root: Weighted) -> bool:
    """With channels first, vectors are of pixels: weights are read an element at a time, as they are."""
    return isinstance(root, ai.MatMulOp) or root.layout is not None


def _is_single_use(value: ir.Value) -> bool:
    return sum(1 for _ in value.uses) == 1


def _is_pointwise(op: Operation, out: TensorType) -> bool:
    if not computes_on_registers(op) or type_of(op.operation.results[0]).shape != out.shape:
        return False
    return all(_is_side_operand(value) for value in op.operation.operands)


def _is_side_operand(value: ir.Value) -> bool:
    """A value the epilogue can have in registers: an op's result, a constant of equal elements, an argument."""
    if isinstance(value, ir.BlockArgument):
        return True
    owner = value.owner.opview if isinstance(value.owner, ir.Operation) else value.owner
    return isinstance(owner, Operation) or splat_operand(value) is not None


assert all(op.traits & {Trait.ELEMENTWISE} for op in POINTWISE), "what the tables hold is elementwise"
