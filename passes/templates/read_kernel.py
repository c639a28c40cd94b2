"""Reading kernels as contractions: which op is loaded, which begins a stage, which is part of an epilogue."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.rules import splat_operand
from aiopt.passes.rewrite import SMALL_BYTES
from aiopt.passes.templates.access import FLOAT_ELEMENTS, Access, is_load, plain_access, reads_matrix
from aiopt.passes.templates.kernel import (
    Contraction,
    Root,
    Weighted,
    computes_on_registers,
    is_part,
    is_root,
    weight_of,
)
from aiopt.support.types import TensorType

Known = Callable[[ir.Value], bool]  # says whether a value that is read from outside is a constant of known value


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


def stages_of(ops: Sequence[Operation], returned: ir.Value, is_known: Known) -> list[Contraction] | None:
    """The same for ops that are one kernel or could be, of which `returned` is the result."""
    last = ops[-1] if ops else None
    insertion = last if isinstance(last, ai.InsertOp) and last.out == returned else None
    if insertion is not None:
        ops, returned = ops[:-1], insertion.input
    last = ops[-1] if len(ops) > 1 else None
    turn = last if isinstance(last, ai.TransposeOp) and last.out == returned else None
    if turn is not None:
        ops, returned = ops[:-1], turn.input
    scores = _read_scores(ops)
    before = frozenset() if scores is None else scores.ops
    reader = _Reader(is_known, frozenset(op.operation.results[0] for op in ops), scores)
    if not all(reader.take(op) for op in ops if op.operation not in before):
        return None
    stages = reader.finish()
    if not stages or stages[-1].result != returned or not _may_turn(stages, turn):
        return None
    if any(reader.read_outside(number) != {stage.result} for number, stage in enumerate(stages[:-1])):
        return None
    return [*stages[:-1], replace(stages[-1], turn=turn, insertion=insertion)]


def _may_turn(stages: Sequence[Contraction], turn: ai.TransposeOp | None) -> bool:
    """True if the result can be stored so: vectors of a tile stay vectors."""
    if turn is None:
        return True
    last = len(turn.permutation) - 1
    return len(stages) == 1 and isinstance(stages[0].root, ai.MatMulOp) and turn.permutation[last] == last


@dataclass(frozen=True)
class _Scores:
    """The contraction whose softmax a matmul reads, and all ops between its arguments and that matmul."""

    contraction: Contraction
    product: ai.MatMulOp
    ops: frozenset[ir.Operation]


def _read_scores(ops: Sequence[Operation]) -> _Scores | None:
    """The scores of attention; None if the kernel is nothing of that kind."""
    product = next((op for op in reversed(ops) if isinstance(op, ai.MatMulOp)), None)
    if product is None:
        return None
    inside = {op.operation for op in ops}
    softmax, casts = uncast(product.lhs)
    if not isinstance(softmax, ai.SoftmaxOp) or softmax.operation not in inside:
        return None
    if softmax.axis.value != type_of(softmax.input).rank - 1:
        return None
    needed = _needed(softmax.input, inside)
    found = stages_of([op for op in ops if op.operation in needed], softmax.input, lambda _: False)
    if found is None or len(found) != 1 or found[0].scores is not None or found[0].turn is not None:
        return None
    return _Scores(found[0], product, frozenset(needed | {softmax.operation, *(op.operation for op in casts)}))


def uncast(value: ir.Value) -> tuple[ir.OpView | None, list[ir.OpView]]:
    """What computes a value but for casts among floats, and these casts; None for an argument."""
    casts: list[ir.OpView] = []
    while True:
        owner = None if isinstance(value, ir.BlockArgument) else ir.OpResult(value).owner.opview
        if not isinstance(owner, ai.CastOp) or not computes_on_registers(owner):
            return owner, casts
        casts.append(owner)
        value = owner.input


def _needed(value: ir.Value, inside: Collection[ir.Operation]) -> set[ir.Operation]:
    """Those of the ops that a value is computed by."""
    found: set[ir.Operation] = set()
    work = [value]
    while work:
        owner = work.pop().owner
        if isinstance(owner, ir.Block) or owner.operation in found or owner.operation not in inside:
            continue
        found.add(owner.operation)
        work.extend(owner.operation.operands)
    return found


@dataclass
class _Reader:
    """Sorts the ops of a kernel into stages, in order.

    inside: what they compute. scores: what the last of them reads, whose ops it does not get.
    """

    is_known: Known
    inside: frozenset[ir.Value]
    scores: _Scores | None
    loads: dict[ir.Value, Access] = field(default_factory=dict)
    stages: list[tuple[Root, list[Operation]]] = field(default_factory=list)
    stage_of: dict[ir.Value, int] = field(default_factory=dict)

    def take(self, op: Operation) -> bool:
        """Put an op where it belongs; False if it belongs nowhere."""
        result = op.operation.results[0]
        if self._is_load(op):
            operand = op.operation.operands[0]
            self.loads[result] = self.loads.get(operand, plain_access(operand)).loaded(op)
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
        return self._is_pointwise(op, type_of(root.operation.results[0]))

    def _is_load(self, op: Operation) -> bool:
        operand = op.operation.operands[0]
        is_cast = isinstance(op, ai.CastOp)
        return is_load(op) and (operand in self.loads or operand not in self.inside) and not (is_cast and self.stages)

    def _takes_root(self, root: Root) -> bool:
        read = list(root.operation.operands)
        if self.scores is not None:
            if root.operation != self.scores.product.operation:
                return False  # scores are of one kernel with one product
            read = read[1:]
        elif read[0] in self.stage_of:
            read = read[1:]
        if not all(self._is_read(root, value) for value in read):
            return False
        values = [*root.operation.operands, *root.operation.results]
        return not any(type_of(value).size == 0 for value in values)  # loops without iterations

    def _is_read(self, root: Root, operand: ir.Value) -> bool:
        """True if the loops of a contraction can load an operand so."""
        access = self.loads.get(operand)
        if _is_cloned(operand) or (access is None and operand in self.inside):
            return False
        access = access or plain_access(operand)
        if not {type_of(operand).element, type_of(access.argument).element} <= FLOAT_ELEMENTS:
            return False
        moves = [op for op in access.through if not isinstance(op, ai.CastOp)]
        if isinstance(root, ai.MatMulOp):
            return access.is_plain or (reads_matrix(access) and (root.pack is None or operand != root.rhs))
        is_image = isinstance(root, ai.ConvOp) and root.layout is not None and operand == root.input
        is_moved = len(moves) == 1 and (is_part(moves[0]) or isinstance(moves[0], ai.RelayoutOp))
        return not moves or (is_image and is_moved)

    def _is_pointwise(self, op: Operation, out: TensorType) -> bool:
        if not computes_on_registers(op) or type_of(op.operation.results[0]).shape != out.shape:
            return False
        return all(self._is_side_operand(value) for value in op.operation.operands)

    def _is_side_operand(self, value: ir.Value) -> bool:
        """A value the epilogue can have in registers: a stage's, equal elements, an argument or a part of one."""
        if value in self.loads:
            (op, *more) = self.loads[value].through
            return not more and (isinstance(op, ai.CastOp) or is_part(op))
        if value in self.inside:
            return value in self.stage_of
        owner = value.owner.opview if isinstance(value, ir.OpResult) else None
        return not isinstance(owner, arith.ConstantOp) or splat_operand(value) is not None

    def finish(self) -> list[Contraction]:
        return [self._contraction(root, tuple(epilogue)) for root, epilogue in self.stages]

    def _contraction(self, root: Root, epilogue: tuple[Operation, ...]) -> Contraction:
        packable = isinstance(root, Weighted) and (root.pack is not None or self._is_packable(root))
        read = dict.fromkeys(value for op in (root, *epilogue) for value in op.operation.operands)
        loads = {value: self.loads[value] for value in read if value in self.loads}
        return Contraction(root, epilogue, packable, loads, None if self.scores is None else self.scores.contraction)

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
