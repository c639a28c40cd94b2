"""How a tile of the result begins and ends: bias in, the kernel's elementwise ops on the registers, stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from mlir import ir
from mlir.dialects import arith

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.builder import constant
from aiopt.passes.lower.linalg.elementwise import BINARY, UNARY
from aiopt.passes.lower.linalg.rules import splat_operand
from aiopt.passes.templates import emit
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.view import Places, View

Registers = list[ir.Value]  # a tile's accumulators, row by row
_SMALLEST = 2.0**-126  # normal number of f32
Axes = Sequence[Sequence[int]]  # neighbouring axes of a result that the loops see as one, for each axis of the loops


@dataclass(frozen=True)
class Tile:
    """A block of the result, [*lead, rows, columns]: where it starts, and how many rows and which columns it has."""

    lead: tuple[Index, ...]
    row: Index
    column: Index
    rows: int
    chunks: list[Chunk]

    def cells(self) -> list[tuple[int, Chunk]]:
        """Row and chunk of each accumulator in order."""
        return [(row, chunk) for row in range(self.rows) for chunk in self.chunks]


@dataclass(frozen=True)
class Grid:
    """A buffer as the loops over the result's shape see it: flat, with a stride per axis, 0 along axes it spreads."""

    buffer: ir.Value
    strides: list[int]
    base: Index = 0

    @staticmethod
    def of(view: View, rank: int, axes: Axes) -> Grid:
        """What broadcasts to a result of this rank, of which the loops join some axes."""
        missing = rank - len(view.shape)
        strides = [0] * missing + [0 if size == 1 else s for size, s in zip(view.shape, view.strides, strict=True)]
        return Grid(view.buffer, [_innermost([strides[axis] for axis in joined]) for joined in axes], view.base)


@dataclass
class Window:
    """The part of a grid that belongs to a tile. What does not depend on the row is loaded once."""

    grid: Grid
    start: Index
    loaded: dict[Chunk, ir.Value] = field(default_factory=dict)

    @staticmethod
    def of(grid: Grid, tile: Tile) -> Window:
        return Window(grid, emit.add(grid.base, emit.dot([*tile.lead, tile.row, tile.column], grid.strides)))

    def load(self, row: int, chunk: Chunk) -> ir.Value:
        step, column = self.grid.strides[-2:]
        if step == 0 and chunk in self.loaded:
            return self.loaded[chunk]
        at = emit.add(self.start, row * step)
        scalar = column == 0
        value = emit.load_scalar(self.grid.buffer, at, chunk.kind) if scalar else emit.load(self.grid.buffer, at, chunk)
        self.loaded[chunk] = value
        return value

    def store(self, value: ir.Value, row: int, chunk: Chunk) -> None:
        emit.store(value, self.grid.buffer, emit.add(self.start, row * self.grid.strides[-2]), chunk)


@dataclass(frozen=True)
class Result:
    """The result of a kernel and what flows into it beside the products."""

    kernel: Contraction
    destination: Grid | None  # None: it is used where it is made
    bias: Grid | None
    sides: dict[ir.Value, Grid]

    @staticmethod
    def of(kernel: Contraction, places: Places, bias: ir.Value | None, axes: Axes) -> Result:
        """axes: which axes of the result each axis of the loops joins; `folds` has said that this can be done."""
        rank = kernel.out.rank
        sides = {value: Grid.of(places[value], rank, axes) for value in kernel.side_operands()}
        start = None if bias is None else Grid.of(_bias_view(kernel, places[bias]), rank, axes)
        destination = Grid.of(_destination(kernel, places), rank, axes) if kernel.result in places else None
        return Result(kernel, destination, start, sides)

    def begin(self, tile: Tile, first: ir.Value | bool) -> Registers:
        """The accumulators: the bias or zero in the first part of a reduction, later what was stored."""

        def start() -> Registers:
            bias = None if self.bias is None else Window.of(self.bias, tile)
            return [emit.zeros(c) if bias is None else bias.load(row, c) for row, c in tile.cells()]

        def resume() -> Registers:
            window = self._window(tile)
            return [window.load(row, c) for row, c in tile.cells()]

        if isinstance(first, bool):
            return start() if first else resume()
        return emit.branch(first, start, resume, [c.kind for _, c in tile.cells()])

    def end(self, tile: Tile, registers: Registers, last: ir.Value | bool) -> None:
        """Store the accumulators, in the last part of a reduction after the epilogue."""

        def pause() -> Registers:
            window = self._window(tile)
            for value, (row, chunk) in zip(registers, tile.cells(), strict=True):
                window.store(value, row, chunk)
            return []

        def finish() -> Registers:
            self._finish(tile, registers)
            return []

        if isinstance(last, bool):
            finish() if last else pause()
        else:
            emit.branch(last, finish, pause)

    @property
    def stored(self) -> Grid:
        """Where the result goes."""
        assert self.destination is not None, "asked of results that are stored"
        return self.destination

    def _window(self, tile: Tile) -> Window:
        return Window.of(self.stored, tile)

    def _finish(self, tile: Tile, registers: Registers) -> None:
        destination = self._window(tile)
        for value, (row, chunk) in zip(self.values(tile, registers), tile.cells(), strict=True):
            destination.store(value, row, chunk)

    def values(self, tile: Tile, registers: Registers) -> Iterator[ir.Value]:
        """The values of a tile after the epilogue, cell by cell: each is to be used before the next is asked for."""
        windows = {value: Window.of(grid, tile) for value, grid in self.sides.items()}
        for register, (row, chunk) in zip(registers, tile.cells(), strict=True):
            values: dict[ir.Value, ir.Value] = {self.kernel.root.operation.results[0]: register}
            for op in self.kernel.epilogue:
                first, *others = [_operand(v, values, windows, row, chunk) for v in op.operation.operands]
                inverse = _inverse(op)
                result = op.operation.results[0]
                if inverse is not None:
                    values[result] = arith.mulf(first, constant(inverse, chunk.kind))
                else:
                    values[result] = _expression(op)(first, *others)
            yield values[self.kernel.computed]


def _destination(kernel: Contraction, places: Places) -> View:
    """The result as the loops see it: what is transposed at the end is stored so."""
    view = places[kernel.result]
    if kernel.turn is None:
        return view
    permutation = list(kernel.turn.permutation)
    strides = tuple(view.strides[permutation.index(axis)] for axis in range(len(permutation)))
    return replace(view, shape=tuple(kernel.out.shape), strides=strides)


def _innermost(strides: Sequence[int]) -> int:
    """From one element to the next along joined axes, which lie in memory like one: along the last that has several."""
    return next((stride for stride in reversed(strides) if stride), 0)


def each_axis(rank: int) -> Axes:
    """No axes joined."""
    return [[axis] for axis in range(rank)]


def folds(kernel: Contraction, axes: Axes) -> bool:
    """True if the result and all operands of the epilogue can be taken with these axes made one each."""
    out = kernel.out.shape

    def fits(value: ir.Value) -> bool:
        full = [1] * (len(out) - type_of(value).rank) + list(type_of(value).shape)
        own = [[full[axis] for axis in joined] for joined in axes]
        whole = [[out[axis] for axis in joined] for joined in axes]
        return all(set(sizes) == {1} or sizes == result for sizes, result in zip(own, whole, strict=True))

    return all(fits(value) for value in kernel.side_operands())


def _bias_view(kernel: Contraction, bias: View) -> View:
    """[filters] as it broadcasts to a convolution's result."""
    is_first = isinstance(kernel.root, ai.ConvOp) and kernel.root.layout is None
    after = (1,) * (kernel.out.rank - 2 if is_first else 0)
    return View(bias.buffer, (*bias.shape, *after), (*bias.strides, *after), bias.base)


def _operand(
    value: ir.Value, values: dict[ir.Value, ir.Value], windows: dict[ir.Value, Window], row: int, chunk: Chunk
) -> ir.Value:
    if value in values:
        return values[value]
    if value in windows:
        return windows[value].load(row, chunk)
    splat = splat_operand(value)
    assert splat is not None, "read_contraction lets nothing else in"
    if splat.type.element == "i1":
        flags = ir.VectorType.get([chunk.lanes], ir.IntegerType.get_signless(1))
        return constant(int(bool(splat.splat)), flags)
    return splat.scalar(chunk.kind)


def _inverse(op: Operation) -> float | None:
    """What to multiply by in place of dividing by a constant, which takes five times as long and is rounded once less;
    None for other ops, and constants whose inverse is no normal number."""
    divisor = splat_operand(op.rhs) if isinstance(op, ai.DivOp) else None
    if divisor is None or divisor.splat is None or not _SMALLEST < abs(divisor.splat) < 1 / _SMALLEST:
        return None
    return 1 / divisor.splat


def _expression(op: Operation):
    if isinstance(op, ai.CastOp):
        return lambda x: x  # f32 in registers, rounded where it is stored
    if isinstance(op, ai.SelectOp):
        return arith.select
    return UNARY[type(op)] if type(op) in UNARY else BINARY[type(op)][0]
