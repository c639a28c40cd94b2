"""Reads kernels of rows: elementwise ops around folds of whole rows, softmax and layer norms among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir
from mlir.dialects import arith, func, math

from aiopt.dialects import ai
from aiopt.dialects.ai import Trait
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.elementwise import BINARY, UNARY
from aiopt.passes.lower.linalg.rules import splat_operand
from aiopt.passes.lower.math.builder import FloatBuilder
from aiopt.passes.lower.math.exp import exp_up_to_one
from aiopt.passes.templates.access import FLOAT_ELEMENTS
from aiopt.passes.templates.kernel import ACCUMULATOR, computes_on_registers
from aiopt.passes.templates.row_program import Extent, Fold, Program, Step

# Instructions of an element, about; of others one.
_COSTS: dict[type[Operation], int] = {
    **dict.fromkeys((ai.ExpOp, ai.LogOp, ai.TanhOp, ai.ErfOp, ai.SigmoidOp), 20),
    **dict.fromkeys((ai.SqrtOp, ai.DivOp), 8),
    ai.PowOp: 4,
    ai.CastOp: 0,
}
_CHEAP = frozenset({ai.IdentityOp, ai.NegOp, ai.AbsOp, ai.ReluOp, ai.FloorOp, ai.CeilOp, ai.RoundOp})
_SCALAR = frozenset(UNARY) - frozenset(_COSTS) - _CHEAP  # calls of libm
_FOLDS: dict[type[Operation], Fold] = {
    ai.ReduceSumOp: Fold.SUM,
    ai.ReduceMeanOp: Fold.SUM,
    ai.ReduceMaxOp: Fold.MAX,
    ai.ReduceMinOp: Fold.MIN,
}


@dataclass(frozen=True)
class RowKernel:
    """A kernel, or the last stage of one, as a program on rows, seen by loops over [*lead, row, inner].

    groups: neighbouring axes of the rows' shape that the loops join to one, those of `lead` first, then the row's and
    those inside it. An elementwise kernel's rows are its last group.
    """

    program: Program
    result: ir.Value
    lead: tuple[tuple[int, ...], ...]
    row: tuple[int, ...]
    inner: tuple[int, ...]
    insertion: ai.InsertOp | None = None  # the result is written into a part of a larger buffer
    rows: int | None = None  # how many along the last axis of lead are computed at a time; None: all

    def size(self, axes: Sequence[int]) -> int:
        return prod(self.program.shape[axis] for axis in axes)

    @property
    def count(self) -> int:
        """The rows along the last axis of lead."""
        return self.rows if self.rows is not None else self.size(self.lead[-1]) if self.lead else 1


def read_rows(function: func.FuncOp, known: frozenset[int]) -> RowKernel | None:
    """The kernel as a program on rows; None if it is something else."""
    *ops, end = function.entry_block.operations
    ops = [op for op in ops if not isinstance(op, arith.ConstantOp)]
    if not ops or len(end.operands) != 1 or not all(isinstance(op, Operation) for op in ops):
        return None
    return rows_of(ops, end.operands[0])  # pyright: ignore[reportArgumentType]


def rows_of(ops: Sequence[Operation], returned: ir.Value) -> RowKernel | None:
    """The same for ops that are a kernel or a part of one, of which `returned` is the result."""
    values = [value for op in ops for value in (*op.operands, *op.results)]
    if not all(type_of(value).element in FLOAT_ELEMENTS and type_of(value).size for value in values):
        return None
    rows = _rows_of(ops)
    if rows is None or any(type_of(op.results[0]).element != ACCUMULATOR for op in ops[:-1]):  # rounded in the middle
        return None
    program = Program(*rows)
    reading = _Reading(program, {})
    for op in ops:
        if not reading.read(op):
            return None
    return _grouped(program, returned) if reading.steps.get(returned) is program.steps[-1] else None


def is_fold(op: Operation) -> bool:
    """True if each element of the result depends on several of one operand, which may be a row."""
    return _folded(op) is not None


def _rows_of(ops: Sequence[Operation]) -> tuple[tuple[int, ...], range] | None:
    """The shape of the rows and which of its axes are folded; None if ops differ about it."""
    found = {folded for op in ops if (folded := _folded(op)) is not None}
    if not found:
        return type_of(ops[-1].results[0]).shape, range(0)
    (shape, axes), *others = found
    neighbours = axes and list(axes) == list(range(axes[0], axes[-1] + 1))
    if others or not neighbours or prod(shape[axis] for axis in axes) == 1:
        return None
    return shape, range(axes[0], axes[-1] + 1)


def _folded(op: Operation) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The shape of what an op folds and its folded axes; None for an elementwise op."""
    shape = type_of(op.operands[0]).shape if op.operands else ()
    if isinstance(op, ai.SoftmaxOp):
        return shape, (op.axis.value,)
    if isinstance(op, ai.LayerNormOp):
        return shape, tuple(range(op.axis.value, len(shape)))
    return (shape, tuple(op.python_attributes()["axes"])) if Trait.REDUCTION in op.traits else None


@dataclass(frozen=True)
class _Reading:
    program: Program
    steps: dict[ir.Value, Step]  # values of the kernel that have been read

    def read(self, op: Operation) -> bool:
        """Add the steps of an op; False if it is not covered."""
        if isinstance(op, ai.SoftmaxOp):
            return self._softmax(op)
        if isinstance(op, ai.LayerNormOp):
            return self._layer_norm(op)
        if type(op) in _FOLDS:
            return self._reduction(op)
        return type(op) not in _SCALAR and computes_on_registers(op) and self._elementwise(op)

    def _operand(self, value: ir.Value, shape: tuple[int, ...]) -> Step | None:
        """An operand of an op whose result has `shape`, that of rows or of one value a row; None if it is neither."""
        program = self.program
        if value in self.steps:
            own, step = type_of(value).shape, self.steps[value]
            spreads = step.extent is Extent.SINGLE and own == program.single and shape == program.shape
            return step if own == shape or spreads else None
        splat = splat_operand(value)
        if splat is not None:
            assert splat.splat is not None
            return program.splat(splat.splat)
        if not isinstance(value, ir.BlockArgument) and isinstance(value.owner.opview, arith.ConstantOp):
            return None
        extent = self._extent(shape)
        return None if extent is None else program.load(value, extent, self._full(type_of(value).shape, shape))

    def _extent(self, shape: tuple[int, ...]) -> Extent | None:
        if shape == self.program.shape:
            return Extent.ROW
        return Extent.SINGLE if shape in (self.program.single, self._dropped) else None

    @property
    def _dropped(self) -> tuple[int, ...]:
        return tuple(size for axis, size in enumerate(self.program.shape) if axis not in self.program.axes)

    def _full(self, own: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to `shape` in the rank of the rows."""
        padded = iter((1,) * (len(shape) - len(own)) + own)
        if shape == self._dropped and len(shape) < len(self.program.shape):
            return tuple(1 if axis in self.program.axes else next(padded) for axis in range(len(self.program.shape)))
        return tuple(padded)

    def _elementwise(self, op: Operation) -> bool:
        shape = type_of(op.results[0]).shape
        operands = [self._operand(value, shape) for value in op.operands]
        if self._extent(shape) is None or any(operand is None for operand in operands):
            return False
        given = [operand for operand in operands if operand is not None]
        self.steps[op.results[0]] = step = self._computed(op, given)
        return step.extent is self._extent(shape)

    def _computed(self, op: Operation, operands: list[Step]) -> Step:
        program = self.program
        if isinstance(op, ai.DivOp) and [step.extent for step in operands] == [Extent.ROW, Extent.SINGLE]:
            return _divide(program, *operands)
        cost = _COSTS.get(type(op), 1)
        if isinstance(op, ai.CastOp):  # rounded where it is stored
            return program.compute(lambda _, x: x, *operands, cost=cost)
        expression = UNARY[type(op)] if type(op) in UNARY else BINARY[type(op)][0]
        return program.compute(lambda _, *x: expression(*x), *operands, cost=cost)

    def _reduction(self, op: Operation) -> bool:
        operand = self._operand(op.operands[0], self.program.shape)
        if operand is None or operand.extent is not Extent.ROW:
            return False
        count = prod(self.program.shape[axis] for axis in self.program.axes) if isinstance(op, ai.ReduceMeanOp) else 1
        self.steps[op.results[0]] = self.program.fold(_FOLDS[type(op)], operand, count)
        return True

    def _softmax(self, op: ai.SoftmaxOp) -> bool:
        program, x = self.program, self._operand(op.operands[0], self.program.shape)
        if x is None or x.extent is not Extent.ROW:
            return False
        peak = program.fold(Fold.PEAK, x)  # a NaN reaches all of the row by the sum
        shifted = program.compute(_sub, x, peak)
        power = program.compute(lambda build, v: exp_up_to_one(v, build), shifted, cost=15)
        total = program.fold(Fold.SUM, power)
        inverse = program.compute(_reciprocal, total)  # of 1 at least
        self.steps[op.results[0]] = program.compute(_mul, power, inverse)
        return True

    def _layer_norm(self, op: ai.LayerNormOp) -> bool:
        program, shape = self.program, self.program.shape
        x, *parameters = (self._operand(value, shape) for value in op.operands)
        if x is None or x.extent is not Extent.ROW or any(step is None for step in parameters):
            return False
        count = prod(shape[axis] for axis in program.axes)
        centred = program.compute(_sub, x, program.fold(Fold.SUM, x, count))
        variance = program.fold(Fold.SUM, program.compute(_mul, centred, centred), count)
        epsilon = program.splat(op.epsilon.value)
        inverse = program.compute(
            lambda build, v, e: _reciprocal(build, math.sqrt(arith.addf(v, e))), variance, epsilon
        )
        scale, *bias = (step for step in parameters if step is not None)
        out = program.compute(_mul, program.compute(_mul, centred, inverse), scale)
        self.steps[op.results[0]] = program.compute(_add, out, bias[0]) if bias else out
        return True


def _add(_: FloatBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return arith.addf(x, y)


def _sub(_: FloatBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return arith.subf(x, y)


def _mul(_: FloatBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return arith.mulf(x, y)


def _reciprocal(build: FloatBuilder, x: ir.Value) -> ir.Value:
    return arith.divf(build.constant(1.0), x)


_FAR = 2.0**64


def _divide(program: Program, x: Step, divisor: Step) -> Step:
    """x / divisor, one division a row, to 1.5 ULP: x * factor * (1 / (divisor * factor)).

    factor is a power of two that keeps the reciprocal a normal number: 1 unless the divisor is very large or small.
    """

    def choose(build: FloatBuilder, d: ir.Value) -> ir.Value:
        size, one = math.absf(d), build.constant(1.0)
        large = arith.cmpf(arith.CmpFPredicate.OGT, size, build.constant(_FAR))
        small = arith.cmpf(arith.CmpFPredicate.OLT, size, build.constant(1 / _FAR))
        return arith.select(large, build.constant(1 / _FAR), arith.select(small, build.constant(_FAR), one))

    factor = program.compute(choose, divisor)
    inverse = program.compute(lambda build, d, f: _reciprocal(build, arith.mulf(d, f)), divisor, factor)
    return program.compute(lambda _, v, f, i: arith.mulf(arith.mulf(v, f), i), x, factor, inverse, cost=2)


def _grouped(program: Program, result: ir.Value) -> RowKernel | None:
    """The kernel with axes joined as far as all loads and the result can be walked so; None if rows fall apart."""
    shapes = [step.shape for step in program.loads]

    def join(axes: Sequence[int]) -> list[tuple[int, ...]]:
        groups: list[list[int]] = []
        for axis in axes:
            if program.shape[axis] == 1:
                continue
            spread = [shape[axis] == 1 for shape in shapes]
            if groups and [shape[groups[-1][-1]] == 1 for shape in shapes] == spread:
                groups[-1].append(axis)
            else:
                groups.append([axis])
        return [tuple(group) for group in groups]

    rank = len(program.shape)
    if not program.axes:
        *lead, row = join(range(rank)) or [()]
        return RowKernel(program, result, tuple(lead), row, ())
    lead, rows = join(range(program.axes.start)), join(program.axes)
    inner = join(range(program.axes.stop, rank))
    if len(rows) != 1 or len(inner) > 1:
        return None
    return RowKernel(program, result, tuple(lead), rows[0], inner[0] if inner else ())
