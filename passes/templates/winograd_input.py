"""Winograd's algorithm before the products: tiles of the input to rows of the matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Parameters
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.tile_transform import Load, Transform
from aiopt.passes.templates.view import View
from aiopt.passes.templates.winograd_tiles import Matrices, Tiles, each_vector


@dataclass(frozen=True)
class InputSide:
    """Transforms tiles of the input with buffers of the task it is made in."""

    tiles: Tiles
    numbers: Parameters
    input: View
    transform: Transform

    @staticmethod
    def allocate(tiles: Tiles, numbers: Parameters, source: View) -> InputSide:
        lanes = numbers["lanes"]
        transform = Transform(tiles.size, emit.scratch(tiles.extent**2 * lanes), lanes, bool(numbers["fma"]))
        return InputSide(tiles, numbers, source, transform)

    def emit(self, inputs: Matrices, chunk: Index, first: Index, last: Index) -> None:
        """Tiles first <= i < last of a chunk to rows of its matrices. Rows without a tile repeat the last."""

        def tile(number: Index, _: list[ir.Value]) -> list[ir.Value]:
            tiles = self.tiles
            place = emit.minimum(emit.add(emit.mul(chunk, self.numbers["tiles"]), number), tiles.total - 1)
            self._tile(place, inputs, inputs.at(0, number))
            return []

        emit.for_loop(first, last, 1, [], tile)

    def _tile(self, number: Index, inputs: Matrices, target: Index) -> None:
        geometry = self.tiles.geometry
        image, row, column = self.tiles.place(number)
        y, x = emit.index(emit.add(row, -geometry.y.pad)), emit.index(emit.add(column, -geometry.x.pad))
        images, *strides, _ = self.input.strides
        start = emit.add(self.input.base, emit.dot([image, y, x], [images, *strides]))

        def inside(channel: Index, chunk: Chunk) -> Load:
            at = emit.add(start, channel)
            return lambda i, j: emit.load(self.input.buffer, emit.add(at, emit.dot([i, j], strides)), chunk)

        def border(channel: Index, chunk: Chunk) -> Load:
            load = inside(channel, chunk)
            return lambda i, j: self._load_if_seen(emit.add(y, i), emit.add(x, j), lambda: load(i, j), chunk)

        def with_loads(loads: Callable[[Index, Chunk], Load]) -> list[ir.Value]:
            each_vector(
                geometry.channels,
                self.numbers["lanes"],
                lambda channel, chunk: self._vector(loads(channel, chunk), inputs, emit.add(target, channel), chunk),
            )
            return []

        emit.branch(self._sees_no_border(y, x), lambda: with_loads(inside), lambda: with_loads(border))

    def _vector(self, load: Load, inputs: Matrices, target: Index, chunk: Chunk) -> None:
        def store(i: Index, j: Index, value: ir.Value) -> None:
            matrix = emit.dot([i, j], [self.tiles.extent, 1])
            emit.store(value, inputs.buffer, emit.add(target, emit.mul(matrix, inputs.step)), chunk.full)

        self.transform.input(load, store)

    def _load_if_seen(self, y: Index, x: Index, load: Callable[[], ir.Value], chunk: Chunk) -> ir.Value:
        """Pixels of the input, zeros where there is none."""
        geometry = self.tiles.geometry
        seen = arith.andi(_is_below(y, geometry.y.size), _is_below(x, geometry.x.size))
        return emit.branch(seen, lambda: [load()], lambda: [emit.zeros(chunk)], [chunk.kind])[0]

    def _sees_no_border(self, y: ir.Value, x: ir.Value) -> ir.Value:
        """True if a tile touches no padding, and nothing behind the last pixel."""
        geometry, extent = self.tiles.geometry, self.tiles.extent
        checks = [_is_below(at, max(0, axis.size - extent + 1)) for at, axis in ((y, geometry.y), (x, geometry.x))]
        return arith.andi(*checks)


def _is_below(value: Index, limit: int) -> ir.Value:
    """0 <= value < limit: as unsigned, what is before the first pixel is far behind the last."""
    return arith.cmpi(arith.CmpIPredicate.ult, emit.index(value), emit.index(limit))
