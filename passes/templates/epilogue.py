"""How a tile of the result begins and ends: bias in, the kernel's elementwise ops on the registers, stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.elementwise import BINARY, UNARY
from aiopt.passes.lower.linalg.rules import splat_operand
from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Buffers
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.kernel import Contraction

Registers = list[ir.Value]  # a tile's accumulators, row by row


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

    @staticmethod
    def of(buffer: ir.Value, shape: Sequence[int], out: Sequence[int]) -> Grid:
        """A buffer whose contents have `shape` and broadcast to `out`."""
        full = [1] * (len(out) - len(shape)) + list(shape)
        strides = emit.row_major(full)
        return Grid(emit.flat(buffer), [0 if size == 1 else s for size, s in zip(full, strides, strict=True)])


@dataclass
class Window:
    """The part of a grid that belongs to a tile. What does not depend on the row is loaded once."""

    grid: Grid
    start: Index
    loaded: dict[Chunk, ir.Value] = field(default_factory=dict)

    @staticmethod
    def of(grid: Grid, tile: Tile) -> Window:
        return Window(grid, emit.dot([*tile.lead, tile.row, tile.column], grid.strides))

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
    destination: Grid
    bias: Grid | None
    sides: dict[ir.Value, Grid]

    @staticmethod
    def of(kernel: Contraction, buffers: Buffers, bias: ir.Value | None, out: Sequence[int]) -> Result:
        """out: the result's shape as the loops see it, with leading axes that may have been made one."""
        shape = kernel.out.shape
        fold = len(shape) - len(out)

        def folded(value: ir.Value) -> list[int]:
            full = [1] * (len(shape) - type_of(value).rank) + list(type_of(value).shape)
            rows = 1 if all(size == 1 for size in full[: fold + 1]) else out[0]
            return full if not fold else [rows, *full[fold + 1 :]]

        sides = {value: Grid.of(buffers[value], folded(value), out) for value in kernel.side_operands()}
        start = None if bias is None else Grid.of(buffers[bias], type_of(bias).shape, out)
        return Result(kernel, Grid.of(buffers[kernel.result], out, out), start, sides)

    def begin(self, tile: Tile, first: ir.Value | bool) -> Registers:
        """The accumulators: the bias or zero in the first part of a reduction, later what was stored."""

        def start() -> Registers:
            bias = None if self.bias is None else Window.of(self.bias, tile)
            return [emit.zeros(c) if bias is None else bias.load(row, c) for row, c in tile.cells()]

        def resume() -> Registers:
            window = Window.of(self.destination, tile)
            return [window.load(row, c) for row, c in tile.cells()]

        if isinstance(first, bool):
            return start() if first else resume()
        return emit.branch(first, start, resume, [c.kind for _, c in tile.cells()])

    def end(self, tile: Tile, registers: Registers, last: ir.Value | bool) -> None:
        """Store the accumulators, in the last part of a reduction after the epilogue."""

        def pause() -> Registers:
            window = Window.of(self.destination, tile)
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

    def _finish(self, tile: Tile, registers: Registers) -> None:
        destination = Window.of(self.destination, tile)
        windows = {value: Window.of(grid, tile) for value, grid in self.sides.items()}
        for register, (row, chunk) in zip(registers, tile.cells(), strict=True):
            values: dict[ir.Value, ir.Value] = {self.kernel.root.operation.results[0]: register}
            for op in self.kernel.epilogue:
                operands = [_operand(v, values, windows, row, chunk) for v in op.operation.operands]
                values[op.operation.results[0]] = _expression(op)(*operands)
            destination.store(values[self.kernel.result], row, chunk)


def folds(kernel: Contraction) -> bool:
    """True if the leading axes of the result and all operands of the epilogue can be taken as one."""
    lead = kernel.out.shape[:-1]

    def fits(value: ir.Value) -> bool:
        shape = type_of(value).shape[:-1]
        return all(size == 1 for size in shape) or shape == lead

    return all(fits(value) for value in kernel.side_operands())


def _operand(
    value: ir.Value, values: dict[ir.Value, ir.Value], windows: dict[ir.Value, Window], row: int, chunk: Chunk
) -> ir.Value:
    if value in values:
        return values[value]
    if value in windows:
        return windows[value].load(row, chunk)
    splat = splat_operand(value)
    assert splat is not None, "read_contraction lets nothing else in"
    return splat.scalar(chunk.kind)


def _expression(op: Operation):
    if isinstance(op, ai.CastOp):
        return lambda x: x  # f32 in registers, rounded where it is stored
    return UNARY[type(op)] if type(op) in UNARY else BINARY[type(op)][0]
