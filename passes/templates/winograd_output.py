"""Winograd's algorithm from the products on: matrices times weights, back to pixels, the kernel's elementwise ops."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Parameters
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.epilogue import Result, Tile
from aiopt.passes.templates.reduce import Arithmetic, Columns, Rows, reduce_products
from aiopt.passes.templates.tile_transform import Transform
from aiopt.passes.templates.winograd_tiles import Matrices, Tiles, each_position, each_vector


@dataclass(frozen=True)
class OutputSide:
    """Multiplies chunks of tiles with blocks of filters, with buffers of the task it is made in."""

    tiles: Tiles
    numbers: Parameters
    result: Result
    weight: ir.Value  # flat
    products: Matrices  # of the tiles of a chunk, a column for each filter of a block
    pixels: ir.Value  # of a tile of the result, flat
    transform: Transform

    @staticmethod
    def allocate(tiles: Tiles, numbers: Parameters, result: Result, weight: ir.Value) -> OutputSide:
        lanes, nr = numbers["lanes"], numbers["nr"]
        products = Matrices.allocate(tiles.extent**2, rows_of_chunk(numbers), nr)
        pixels, half = emit.scratch(tiles.size**2 * nr), emit.scratch(tiles.size * tiles.extent * lanes)
        transform = Transform(tiles.size, half, lanes, bool(numbers["fma"]))
        return OutputSide(tiles, numbers, result, weight, products, pixels, transform)

    def emit(self, inputs: Matrices, chunk: Index, block: Index, width: int) -> None:
        """A chunk, its matrices, times a block of filters, and what follows on its pixels."""
        numbers, first = self.numbers, emit.mul(chunk, self.numbers["tiles"])
        count = emit.minimum(emit.add(self.tiles.total, emit.mul(first, -1)), numbers["tiles"])

        def product(matrix: Index, _: list[ir.Value]) -> list[ir.Value]:
            def rows(row: Index, _: list[ir.Value]) -> list[ir.Value]:
                self._multiply(inputs, matrix, row, block, width)
                return []

            emit.for_loop(0, count, numbers["mr"], [], rows)  # the last rows may be those of no tile
            return []

        def finish(number: Index, _: list[ir.Value]) -> list[ir.Value]:
            self._transform_back(number, width)
            self._finish_tile(emit.add(first, number), emit.mul(block, numbers["nr"]), width)
            return []

        emit.for_loop(0, self.tiles.extent**2, 1, [], product)
        emit.for_loop(0, count, 1, [], finish)

    def _multiply(self, inputs: Matrices, matrix: Index, row: Index, block: Index, width: int) -> None:
        """Some rows of one of the matrices times the weights of its position."""
        depth, mr, nr = self.tiles.geometry.channels, self.numbers["mr"], self.numbers["nr"]
        chunks = [chunk.full for chunk in emit.chunks(width, self.numbers["lanes"])]
        panel = emit.mul(emit.dot([block, matrix], [self.tiles.extent**2, 1]), depth * nr)
        tile = Tile((), row, 0, mr, chunks)
        rows = Rows(inputs.buffer, inputs.at(matrix, row), [i * inputs.columns for i in range(mr)])
        columns = Columns(self.weight, panel, nr, True, self._ahead(panel, row))
        sums = [emit.zeros(chunk) for _, chunk in tile.cells()]
        sums = reduce_products(
            tile, range(mr), sums, depth, rows, columns, Arithmetic(bool(self.numbers["fma"]), False)
        )
        for value, (i, chunk) in zip(sums, tile.cells(), strict=True):
            emit.store(value, self.products.buffer, self.products.at(matrix, emit.add(row, i)), chunk)

    def _ahead(self, panel: Index, row: Index) -> Index:
        """Weights of the next position: the first products with them would wait for memory.

        Each register tile fetches as many lines as there are channels, so that the first few fetch all.
        """
        depth, nr, mr = self.tiles.geometry.channels, self.numbers["nr"], self.numbers["mr"]
        parts = -(-nr // emit.LINE)
        size = self.weight.type.shape[0]
        first = emit.minimum(emit.add(panel, depth * nr), size - parts * depth * emit.LINE)
        part = (
            0
            if parts == 1
            else emit.minimum(row // mr if isinstance(row, int) else arith.divui(row, emit.index(mr)), parts - 1)
        )
        return emit.add(first, emit.mul(part, depth * emit.LINE))

    def _transform_back(self, row: Index, width: int) -> None:
        products, lanes, nr = self.products, self.numbers["lanes"], self.numbers["nr"]

        def vector(column: Index, chunk: Chunk) -> None:
            base = emit.add(products.at(0, row), column)

            def load(i: Index, j: Index) -> ir.Value:
                matrix = emit.dot([i, j], [self.tiles.extent, 1])
                return emit.load(products.buffer, emit.add(base, emit.mul(matrix, products.step)), chunk)

            def store(i: Index, j: Index, value: ir.Value) -> None:
                emit.store(value, self.pixels, emit.add(column, emit.dot([i, j], [self.tiles.size * nr, nr])), chunk)

            self.transform.output(load, store)

        each_vector(-(-width // lanes) * lanes, lanes, vector)

    def _finish_tile(self, number: Index, column: Index, width: int) -> None:
        """Bias, epilogue and stores of those pixels of a tile that the result has."""
        size, nr, geometry = self.tiles.size, self.numbers["nr"], self.tiles.geometry
        image, top, left = self.tiles.place(number)
        chunks = emit.chunks(width, self.numbers["lanes"])

        def pixel(row: Index, at: Index) -> None:
            tile = Tile((image, emit.add(top, row)), emit.add(left, at), column, 1, chunks)
            place = emit.dot([row, at], [size * nr, nr])
            values = [emit.load(self.pixels, place, piece.full) for piece in chunks]
            if self.result.bias is not None:
                values = [arith.addf(*pair) for pair in zip(values, self.result.begin(tile, True), strict=True)]
            self.result.end(tile, values, True)

        def bound(first: Index, count: int, start: ir.Value) -> Index:
            if count % size == 0:
                return size
            return emit.minimum(emit.add(emit.add(first, count), emit.mul(start, -1)), size)

        each_position([bound(self.tiles.first, geometry.rows, top), bound(0, geometry.x.count, left)], pixel)


def rows_of_chunk(numbers: Parameters) -> int:
    """Rows of the matrices of a chunk: its tiles, in whole register tiles."""
    return -(-numbers["tiles"] // numbers["mr"]) * numbers["mr"]
