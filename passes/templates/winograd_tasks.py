"""The loops of a convolution by Winograd's algorithm: which task transforms and multiplies which tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from aiopt.dialects.ai.winograd import TAPS
from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Buffers, Parameters
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.epilogue import Result, Tile
from aiopt.passes.templates.geometry import Geometry
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.reduce import Columns, Rows, reduce_products
from aiopt.passes.templates.sweep import BLOCKS
from aiopt.passes.templates.tile_transform import transform_input, transform_output


@dataclass(frozen=True)
class Tiles:
    """The result cut into tiles of size x size pixels, row by row, image by image."""

    geometry: Geometry
    size: int

    @property
    def extent(self) -> int:
        """Pixels of the input along each side of a tile."""
        return self.size + TAPS - 1

    @property
    def down(self) -> int:
        return -(-self.geometry.y.count // self.size)

    @property
    def across(self) -> int:
        return -(-self.geometry.x.count // self.size)

    @property
    def total(self) -> int:
        return self.geometry.images * self.down * self.across

    @property
    def inside(self) -> int:
        """How many of them see only pixels of the input."""
        counts = []
        for axis, tiles in ((self.geometry.y, self.down), (self.geometry.x, self.across)):
            starts = [tile * self.size - axis.pad for tile in range(tiles)]
            counts.append(sum(0 <= start <= axis.size - self.extent for start in starts))
        return self.geometry.images * counts[0] * counts[1]

    def place(self, number: Index) -> tuple[ir.Value, ir.Value, ir.Value]:
        """Image, first row and first column of the result."""
        line = arith.divui(emit.index(number), emit.index(self.across))
        column = arith.remui(emit.index(number), emit.index(self.across))
        image = arith.divui(line, emit.index(self.down))
        row = arith.remui(line, emit.index(self.down))
        return image, emit.index(emit.mul(row, self.size)), emit.index(emit.mul(column, self.size))


@dataclass(frozen=True)
class Matrices:
    """A row-major matrix [rows, columns] for each position of a tile, in one flat buffer."""

    buffer: ir.Value
    columns: int
    step: int  # elements from one matrix to the next

    @staticmethod
    def allocate(count: int, rows: int, columns: int) -> Matrices:
        lines = -(-rows * columns // emit.LINE)
        step = (
            lines + 1 - lines % 2
        ) * emit.LINE  # an odd number of lines: what is next to each other shares no cache set
        return Matrices(_allocate(count * step), columns, step)

    def at(self, matrix: Index, row: Index) -> Index:
        return emit.add(emit.mul(matrix, self.step), emit.mul(row, self.columns))


def _allocate(elements: int) -> ir.Value:
    return memref.AllocOp(ir.MemRefType.get([elements], ir.F32Type.get()), [], []).result


@dataclass(frozen=True)
class Tasks:
    """Emits the kernel.

    numbers: nr filters in a block, mr tiles at a time in registers, `tiles` in a chunk. With the order BLOCKS all tiles
    are transformed first, in `parts` tasks; then a task is a chunk times a block of filters. Else a task is one of
    `parts` runs of chunks, each transformed and multiplied with all blocks.
    """

    tiles: Tiles
    numbers: Parameters
    result: Result
    input: ir.Value  # flat
    weight: ir.Value

    @staticmethod
    def of(kernel: Contraction, tiles: Tiles, numbers: Parameters, buffers: Buffers) -> Tasks:
        root = kernel.root
        result = Result.of(kernel, buffers, root.bias, kernel.out.shape)
        return Tasks(tiles, numbers, result, emit.flat(buffers[root.input]), emit.flat(buffers[root.weight]))

    @property
    def _geometry(self) -> Geometry:
        return self.tiles.geometry

    @property
    def _depth(self) -> int:
        """Channels, in whole vectors."""
        return -(-self._geometry.channels // self.numbers["lanes"]) * self.numbers["lanes"]

    @property
    def _rows(self) -> int:
        """Rows of the matrices of a chunk: its tiles, in whole register tiles."""
        return -(-self.numbers["tiles"] // self.numbers["mr"]) * self.numbers["mr"]

    @property
    def _chunks(self) -> int:
        return -(-self.tiles.total // self.numbers["tiles"])

    def emit(self) -> None:
        positions, parts = self.tiles.extent**2, self.numbers["parts"]
        if self.numbers["order"] != BLOCKS:
            emit.forall([parts], self._run)
            return
        whole = Matrices.allocate(positions, self._chunks * self._rows, self._depth)
        emit.forall([self._chunks, parts], lambda chunk, part: self._transform_part(whole, chunk, part))
        blocks = -(-self._geometry.filters // self.numbers["nr"])
        emit.forall([blocks, self._chunks], lambda block, chunk: self._one_block(whole, block, chunk))

    def _run(self, part: ir.Value) -> None:
        """A task: chunks one after the other, all blocks of filters."""
        inputs = Matrices.allocate(self.tiles.extent**2, self._rows, self._depth)
        patch, products, pixels = self._allocate_patch(), self._allocate_products(), self._allocate_pixels()
        each = -(-self._chunks // self.numbers["parts"])
        first = emit.mul(part, each)
        full, rest = divmod(self._geometry.filters, self.numbers["nr"])

        def chunk(number: Index, _: list[ir.Value]) -> list[ir.Value]:
            self._transform(inputs, patch, number, 0, 0, self._rows)

            def block(position: Index, _: list[ir.Value]) -> list[ir.Value]:
                self._multiply(inputs, products, pixels, number, 0, position, self.numbers["nr"])
                return []

            emit.for_loop(0, full, 1, [], block)
            if rest:
                self._multiply(inputs, products, pixels, number, 0, full, rest)
            return []

        emit.for_loop(first, emit.minimum(emit.add(first, each), self._chunks), 1, [], chunk)

    def _transform_part(self, whole: Matrices, chunk: ir.Value, part: ir.Value) -> None:
        """A task: some of the tiles of a chunk."""
        each = -(-self._rows // self.numbers["parts"])
        first = emit.mul(part, each)
        last = emit.minimum(emit.add(first, each), self._rows)
        self._transform(whole, self._allocate_patch(), chunk, emit.mul(chunk, self._rows), first, last)

    def _one_block(self, whole: Matrices, block: ir.Value, chunk: ir.Value) -> None:
        """A task: a chunk times a block of filters, which may be a narrower one."""
        products, pixels = self._allocate_products(), self._allocate_pixels()
        start = emit.mul(chunk, self._rows)

        def multiply(width: int) -> list[ir.Value]:
            self._multiply(whole, products, pixels, chunk, start, block, width)
            return []

        full, rest = divmod(self._geometry.filters, self.numbers["nr"])
        if full and rest:
            emit.branch(emit.less(block, full), lambda: multiply(self.numbers["nr"]), lambda: multiply(rest))
        else:
            multiply(self.numbers["nr"] if full else rest)

    def _allocate_patch(self) -> ir.Value:
        return _allocate(self.tiles.extent**2 * self.numbers["lanes"])

    def _allocate_products(self) -> Matrices:
        return Matrices.allocate(self.tiles.extent**2, self._rows, self.numbers["nr"])

    def _allocate_pixels(self) -> ir.Value:
        return _allocate(self.tiles.size**2 * self.numbers["nr"])

    def _transform(
        self, inputs: Matrices, patch: ir.Value, chunk: Index, start: Index, first: Index, last: Index
    ) -> None:
        """Tiles first <= i < last of a chunk to rows start + i of the matrices. Rows without a tile repeat the last."""
        geometry, lanes = self._geometry, self.numbers["lanes"]
        line = geometry.x.size * geometry.channels

        def tile(number: Index, _: list[ir.Value]) -> list[ir.Value]:
            place = emit.minimum(emit.add(emit.mul(chunk, self.numbers["tiles"]), number), self.tiles.total - 1)
            image, row, column = self.tiles.place(place)
            y, x = emit.index(emit.add(row, -geometry.y.pad)), emit.index(emit.add(column, -geometry.x.pad))
            target = inputs.at(0, emit.add(start, number))

            def inside(channel: Index, vector: Chunk) -> None:
                at = emit.dot([image, y, x], [geometry.y.size * line, line, geometry.channels])
                strides = [line, geometry.channels]
                self._transform_vector(
                    self.input, emit.add(at, channel), strides, vector, inputs, emit.add(target, channel)
                )

            def border(channel: Index, vector: Chunk) -> None:
                self._fill_patch(patch, (image, y, x), channel, vector)
                strides = [self.tiles.extent * lanes, lanes]
                self._transform_vector(patch, 0, strides, vector.full, inputs, emit.add(target, channel))

            sides = [lambda body=body: self._by_channel(geometry.channels, body) or [] for body in (inside, border)]
            emit.branch(self._is_inside(y, x), *sides)
            return []

        emit.for_loop(first, last, 1, [], tile)

    def _is_inside(self, y: ir.Value, x: ir.Value) -> ir.Value:
        """True if a tile touches no padding, and nothing behind the last pixel."""
        checks = []
        for at, axis in ((y, self._geometry.y), (x, self._geometry.x)):
            # as unsigned, so that what is before the first pixel is far behind the last
            last = axis.size - self.tiles.extent
            checks.append(_is_below(at, last + 1) if last >= 0 else arith.constant(ir.IntegerType.get_signless(1), 0))
        return arith.andi(*checks)

    def _fill_patch(
        self, patch: ir.Value, places: tuple[ir.Value, ir.Value, ir.Value], channel: Index, chunk: Chunk
    ) -> None:
        """A vector of channels of the pixels of the input that a tile sees, zeros where there are none."""
        geometry, extent, lanes = self._geometry, self.tiles.extent, self.numbers["lanes"]
        image, y, x = places
        line = geometry.x.size * geometry.channels

        def pixel(row: Index, column: Index) -> None:
            here, there = emit.index(emit.add(y, row)), emit.index(emit.add(x, column))
            source = emit.dot([image, here, there], [geometry.y.size * line, line, geometry.channels])
            seen = arith.andi(_is_below(here, geometry.y.size), _is_below(there, geometry.x.size))
            (value,) = emit.branch(
                seen,
                lambda: [emit.load(self.input, emit.add(source, channel), chunk)],
                lambda: [emit.zeros(chunk)],
                [chunk.kind],
            )
            emit.store(value, patch, emit.dot([row, column], [extent * lanes, lanes]), chunk.full)

        _loops([extent, extent], pixel)

    def _by_channel(self, channels: int, body: Callable[[Index, Chunk], None]) -> None:
        """Go through channels a vector at a time; the last one may have fewer valid lanes."""
        lanes = self.numbers["lanes"]
        full = channels - channels % lanes

        def whole(channel: Index, _: list[ir.Value]) -> list[ir.Value]:
            body(channel, Chunk(0, lanes, lanes))
            return []

        emit.for_loop(0, full, lanes, [], whole)
        if channels % lanes:
            body(full, Chunk(0, lanes, channels % lanes))

    def _transform_vector(
        self, source: ir.Value, at: Index, strides: Sequence[int], vector: Chunk, inputs: Matrices, target: Index
    ) -> None:
        extent = self.tiles.extent
        transform_input(
            self.tiles.size,
            lambda place: emit.load(source, emit.add(at, emit.dot(place, strides)), vector),
            lambda place, value: emit.store(
                value, inputs.buffer, emit.add(target, (place[0] * extent + place[1]) * inputs.step), vector.full
            ),
            bool(self.numbers["fma"]),
        )

    def _multiply(
        self,
        inputs: Matrices,
        products: Matrices,
        pixels: ir.Value,
        chunk: Index,
        start: Index,
        block: Index,
        width: int,
    ) -> None:
        """A chunk, from row `start` of the matrices, times a block of filters, and what follows on its pixels."""
        extent, depth = self.tiles.extent, self._geometry.channels
        mr, nr, fma = self.numbers["mr"], self.numbers["nr"], bool(self.numbers["fma"])
        chunks = [piece.full for piece in emit.chunks(width, self.numbers["lanes"])]
        weights = emit.mul(block, extent * extent * depth * nr)
        first = emit.mul(chunk, self.numbers["tiles"])
        count = emit.minimum(emit.add(self.tiles.total, emit.mul(first, -1)), self.numbers["tiles"])

        def position(number: Index, row: Index) -> None:
            tile = Tile((), row, 0, mr, chunks)
            at = inputs.at(number, emit.add(start, row))
            rows = Rows(inputs.buffer, at, [i * inputs.columns for i in range(mr)])
            panel = emit.add(weights, emit.mul(number, depth * nr))
            columns = Columns(self.weight, panel, nr, True, self._ahead(panel, row))
            sums = [emit.zeros(piece) for _, piece in tile.cells()]
            sums = reduce_products(tile, range(mr), sums, depth, rows, columns, fma)
            for value, (i, piece) in zip(sums, tile.cells(), strict=True):
                emit.store(value, products.buffer, products.at(number, emit.add(row, i)), piece)

        def product(number: Index, _: list[ir.Value]) -> list[ir.Value]:
            def rows(row: Index, _: list[ir.Value]) -> list[ir.Value]:
                position(number, row)
                return []

            emit.for_loop(0, count, mr, [], rows)  # the last rows may be those of no tile
            return []

        emit.for_loop(0, extent * extent, 1, [], product)

        def finish(number: Index, _: list[ir.Value]) -> list[ir.Value]:
            self._transform_back(products, pixels, number, width)
            self._finish_tile(pixels, emit.add(first, number), emit.mul(block, nr), width)
            return []

        emit.for_loop(0, count, 1, [], finish)

    def _ahead(self, panel: Index, row: Index) -> Index:
        """Weights of the next position: the first products with them would wait for memory.

        Each register tile fetches as many lines as there are channels, so that the first few fetch all.
        """
        depth, nr, mr = self._geometry.channels, self.numbers["nr"], self.numbers["mr"]
        parts = -(-nr // emit.LINE)
        size = self.weight.type.shape[0]
        first = emit.minimum(emit.add(panel, depth * nr), size - parts * depth * emit.LINE)
        part = (
            0
            if parts == 1
            else emit.minimum(row // mr if isinstance(row, int) else arith.divui(row, emit.index(mr)), parts - 1)
        )
        return emit.add(first, emit.mul(part, depth * emit.LINE))

    def _transform_back(self, products: Matrices, pixels: ir.Value, row: Index, width: int) -> None:
        fma, size, extent, nr = bool(self.numbers["fma"]), self.tiles.size, self.tiles.extent, self.numbers["nr"]

        def channel(c: Index, chunk: Chunk) -> None:
            base = emit.add(products.at(0, row), c)
            transform_output(
                size,
                lambda place: emit.load(
                    products.buffer, emit.add(base, (place[0] * extent + place[1]) * products.step), chunk
                ),
                lambda place, value: emit.store(value, pixels, emit.add(c, (place[0] * size + place[1]) * nr), chunk),
                fma,
            )

        lanes = self.numbers["lanes"]
        self._by_channel(-(-width // lanes) * lanes, channel)

    def _finish_tile(self, pixels: ir.Value, number: Index, column: Index, width: int) -> None:
        """Bias, epilogue and stores of those pixels of a tile that the result has."""
        size, nr, geometry = self.tiles.size, self.numbers["nr"], self._geometry
        image, top, left = self.tiles.place(number)
        chunks = emit.chunks(width, self.numbers["lanes"])

        def pixel(row: Index, at: Index) -> None:
            tile = Tile((image, emit.add(top, row)), emit.add(left, at), column, 1, chunks)
            place = emit.dot([row, at], [size * nr, nr])
            values = [emit.load(pixels, place, piece.full) for piece in chunks]
            if self.result.bias is not None:
                values = [arith.addf(*pair) for pair in zip(values, self.result.begin(tile, True), strict=True)]
            self.result.end(tile, values, True)

        def bound(axis_count: int, start: ir.Value) -> Index:
            if axis_count % size == 0:
                return size
            return emit.minimum(emit.add(axis_count, emit.mul(start, -1)), size)

        _loops([bound(geometry.y.count, top), bound(geometry.x.count, left)], pixel)


def _is_below(value: ir.Value, limit: int) -> ir.Value:
    """0 <= value < limit."""
    return arith.cmpi(arith.CmpIPredicate.ult, value, emit.index(limit))


def _loops(limits: Sequence[Index], body: Callable[..., None], *positions: Index) -> None:
    """Loops from 0, the last one innermost."""
    if not limits:
        body(*positions)
        return

    def inner(position: Index, _: list[ir.Value]) -> list[ir.Value]:
        _loops(limits[1:], body, *positions, position)
        return []

    emit.for_loop(0, limits[0], 1, [], inner)
