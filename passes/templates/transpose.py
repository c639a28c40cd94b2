"""Transposes and relayouts: square tiles in registers; where rows stay whole, copies of rows.

Vectors are loaded along the operand's last axis and stored along the result's. At the edges tiles overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from mlir import ir
from mlir.dialects import func, vector

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.permutation import permutation_of
from aiopt.passes.templates import emit
from aiopt.passes.templates.access import row_major
from aiopt.passes.templates.base import Facts, Parameters, Template, no_rival
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.shuffles import gather, transposed
from aiopt.passes.templates.view import Places

_ELEMENTS = frozenset({"f32", "i32", "ui32"})
_LARGEST_TILE = 8
_SHORTEST_ROW = 4


@dataclass(frozen=True)
class Axis:
    """An axis of the result: its size, and the elements between neighbours in the operand and in the result."""

    size: int
    source: int
    target: int


@dataclass(frozen=True)
class Movement:
    """A permutation of axes, joined where they stay neighbours. axes: those of the result in order."""

    input: ir.Value
    result: ir.Value
    axes: tuple[Axis, ...]

    @property
    def across(self) -> Axis:
        """The last axis of the result."""
        return self.axes[-1]

    @property
    def along(self) -> Axis:
        """The last axis of the operand."""
        return next(axis for axis in self.axes if axis.source == 1)


def read_movement(function: func.FuncOp, known: frozenset[int]) -> Movement | None:
    """The kernel as a permutation of axes of 32-bit elements; None if it is something else or copies all as it is."""
    ops = list(function.entry_block.operations)
    op = ops[0]
    if len(ops) != 2 or not isinstance(op, (ai.TransposeOp, ai.RelayoutOp)) or not isinstance(op, Operation):
        return None
    (operand,), (result,) = op.operands, op.results
    kind = type_of(operand)
    if kind.element not in _ELEMENTS or kind.size < 2 or not isinstance(operand, ir.BlockArgument):
        return None
    strides, order = row_major(kind.shape), [axis for axis in permutation_of(op) if kind.shape[axis] != 1]
    groups: list[list[int]] = []
    for axis in order:
        kept = [other for other in range(kind.rank) if kind.shape[other] != 1]
        if groups and kept.index(groups[-1][-1]) + 1 == kept.index(axis):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    sizes = [prod(kind.shape[axis] for axis in group) for group in groups]
    targets = row_major(sizes)
    axes = [Axis(n, strides[g[-1]], target) for n, g, target in zip(sizes, groups, targets, strict=True)]
    return Movement(operand, result, tuple(axes)) if len(axes) > 1 else None


def _matches(kernel: Movement) -> bool:
    across, along = kernel.across, kernel.along
    if across is along:
        return across.size >= _SHORTEST_ROW
    if min(across.size, along.size) >= _LARGEST_TILE:
        return True
    if max(across.size, along.size) < _LARGEST_TILE:
        return False
    return along.target == across.size if across.size < _LARGEST_TILE else across.source == along.size


def _parameters(kernel: Movement, facts: Facts) -> Parameters:
    return {"tile": min(facts.lanes, _LARGEST_TILE)}


def _ranges(kernel: Movement, facts: Facts) -> dict[str, Sequence[int]]:
    return {"tile": (4, 8)}


def _emit(kernel: Movement, parameters: Parameters, places: Places) -> None:
    source, target = places[kernel.input].buffer, places[kernel.result].buffer
    emitter = _Emitter(kernel, parameters["tile"], source, target)
    if kernel.across is kernel.along:
        emitter.copy_rows()
    elif kernel.across.size < parameters["tile"]:
        emitter.merge_rows()
    elif kernel.along.size < parameters["tile"]:
        emitter.split_rows()
    else:
        emitter.transpose()


@dataclass(frozen=True)
class _Emitter:
    kernel: Movement
    tile: int
    source: ir.Value
    target: ir.Value

    @property
    def _outer(self) -> list[Axis]:
        return [axis for axis in self.kernel.axes if axis not in (self.kernel.across, self.kernel.along)]

    def _load(self, position: Index, lanes: int) -> ir.Value:
        element = self.source.type.element_type  # pyright: ignore[reportAttributeAccessIssue]
        return vector.LoadOp(ir.VectorType.get([lanes], element), self.source, [emit.index(position)]).result

    def _store(self, value: ir.Value, position: Index) -> None:
        vector.StoreOp(value, self.target, [emit.index(position)])

    def _start(self, number: Index, axis: Axis) -> Index:
        """Where a tile begins: the last one where it still fits."""
        return (
            emit.minimum(emit.mul(number, self.tile), axis.size - self.tile)
            if axis.size % self.tile
            else emit.mul(number, self.tile)
        )

    def _tiles(self, axis: Axis) -> int:
        return -(-axis.size // self.tile)

    def _places(self, outer: Sequence[Index]) -> tuple[Index, Index]:
        """Where the operand's and the result's part for a position of the outer axes begin."""
        axes = self._outer
        return emit.dot(outer, [a.source for a in axes]), emit.dot(outer, [a.target for a in axes])

    def copy_rows(self) -> None:
        """Rows that stay whole: vectors of as many elements as four registers have, then what is left."""
        row = self.kernel.across.size
        width = 4 * self.tile

        def task(*outer: ir.Value) -> None:
            source, target = self._places(outer)

            def move(at: Index, lanes: int) -> None:
                self._store(self._load(emit.add(source, at), lanes), emit.add(target, at))

            def wide(at: Index, _: list[ir.Value]) -> list[ir.Value]:
                move(at, width)
                return []

            full = row - row % width
            emit.for_loop(0, full, width, [], wide)
            for at, lanes in emit.pieces(row % width):
                move(full + at, lanes)

        emit.forall([axis.size for axis in self._outer], task)

    def transpose(self) -> None:
        """Square tiles, two by two of them at a time: whole cache lines of both sides."""
        along, across = self.kernel.along, self.kernel.across

        def both(first: Index, axis: Axis) -> list[Index]:
            count = self._tiles(axis)
            numbers = [emit.minimum(emit.add(first, i), count - 1) if i else first for i in range(min(count, 2))]
            return [self._start(number, axis) for number in numbers]

        def task(*indices: ir.Value) -> None:
            *outer, pair = indices
            source, target = self._places(outer)
            starts = both(emit.mul(pair, 2), along)

            def columns(number: Index, _: list[ir.Value]) -> list[ir.Value]:
                for a, b in product(starts, both(number, across)):
                    self._square(source, target, a, b)
                return []

            emit.for_loop(0, self._tiles(across), 2, [], columns)

        emit.forall([*(axis.size for axis in self._outer), -(-self._tiles(along) // 2)], task)

    def _square(self, source: Index, target: Index, a: Index, b: Index) -> None:
        along, across = self.kernel.along, self.kernel.across
        begin = emit.add(source, emit.add(a, emit.mul(b, across.source)))
        rows = [self._load(emit.add(begin, i * across.source), self.tile) for i in range(self.tile)]
        begin = emit.add(target, emit.add(emit.mul(a, along.target), b))
        for i, column in enumerate(transposed(rows)):
            self._store(column, emit.add(begin, i * along.target))

    def merge_rows(self) -> None:
        """Few rows of the operand, whose elements take turns in the result."""
        along, count = self.kernel.along, self.kernel.across.size

        def task(*indices: ir.Value) -> None:
            *outer, number = indices
            (source, target), a = self._places(outer), self._start(number, along)
            begin = emit.add(source, a)
            rows = [self._load(emit.add(begin, i * self.kernel.across.source), self.tile) for i in range(count)]
            for i in range(count):
                places = range(i * self.tile, (i + 1) * self.tile)
                wanted = [(place % count, place // count) for place in places]
                self._store(gather(rows, wanted), emit.add(emit.add(target, emit.mul(a, count)), i * self.tile))

        emit.forall([*(axis.size for axis in self._outer), self._tiles(along)], task)

    def split_rows(self) -> None:
        """Elements that take turns in the operand, to few rows of the result: the other way round."""
        across, count = self.kernel.across, self.kernel.along.size

        def task(*indices: ir.Value) -> None:
            *outer, number = indices
            (source, target), b = self._places(outer), self._start(number, across)
            begin = emit.add(source, emit.mul(b, count))
            parts = [self._load(emit.add(begin, i * self.tile), self.tile) for i in range(count)]
            for i in range(count):
                wanted = [divmod(lane * count + i, self.tile) for lane in range(self.tile)]
                self._store(gather(parts, wanted), emit.add(emit.add(target, b), i * self.kernel.along.target))

        emit.forall([*(axis.size for axis in self._outer), self._tiles(across)], task)


TEMPLATE = Template("transpose", ("tile",), _matches, no_rival, _parameters, _ranges, _emit, read_movement)
