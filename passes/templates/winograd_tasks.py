"""The loops of a convolution by Winograd's algorithm: which task transforms and multiplies which tiles."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from aiopt.dialects import ai
from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Parameters
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.epilogue import Result, each_axis
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.sweep import BLOCKS
from aiopt.passes.templates.view import Places, View
from aiopt.passes.templates.winograd_input import InputSide
from aiopt.passes.templates.winograd_output import OutputSide, rows_of_chunk
from aiopt.passes.templates.winograd_tiles import Matrices, Tiles, divides_tiles


@dataclass(frozen=True)
class Tasks:
    """Emits the kernel.

    numbers: nr filters in a block, mr tiles at a time in registers, `tiles` in a chunk. With the order BLOCKS all tiles
    are transformed first, each chunk in `parts` tasks; then a task is a chunk times a block of filters, and threads
    divide the chunks or, where there are many weights, the blocks. Else a task is one of `parts` runs of chunks, each
    transformed and multiplied with all blocks, in buffers of its own.
    """

    tiles: Tiles
    numbers: Parameters
    result: Result
    input: View
    weight: ir.Value  # flat

    @staticmethod
    def of(kernel: Contraction, tiles: Tiles, numbers: Parameters, places: Places) -> Tasks:
        root = kernel.root
        assert isinstance(root, ai.ConvOp), "the template covers no other"
        result = Result.of(kernel, places, root.bias, each_axis(kernel.out.rank))
        return Tasks(tiles, numbers, result, places[root.input], places[root.weight].buffer)

    @property
    def _chunks(self) -> int:
        return -(-self.tiles.total // self.numbers["tiles"])

    @property
    def _blocks(self) -> tuple[int, int]:
        """Whole blocks of filters, and the filters of a narrower one."""
        return divmod(self.tiles.geometry.filters, self.numbers["nr"])

    def emit(self) -> None:
        parts = self.numbers["parts"]
        if self.numbers["order"] != BLOCKS:
            emit.forall([parts], self._run)
            return
        whole, (full, rest) = self._matrices(self._chunks), self._blocks
        emit.forall([self._chunks, parts], lambda chunk, part: self._transform_part(whole, chunk, part))
        emit.forall(
            [full + bool(rest), self._chunks],
            lambda block, chunk: self._one_block(whole, block, chunk),
            along=int(divides_tiles(self.tiles, self.numbers["mr"], self.numbers["lanes"])),
        )

    def _matrices(self, chunks: int) -> Matrices:
        """For the transformed tiles of some chunks, a set for each: the thread that has a chunk has them alone."""
        lanes, rows = self.numbers["lanes"], rows_of_chunk(self.numbers)
        columns = -(-self.tiles.geometry.channels // lanes) * lanes
        return Matrices.allocate(self.tiles.extent**2, rows, columns, chunks)

    def _input_side(self) -> InputSide:
        return InputSide.allocate(self.tiles, self.numbers, self.input)

    def _output_side(self) -> OutputSide:
        return OutputSide.allocate(self.tiles, self.numbers, self.result, self.weight)

    def _run(self, part: ir.Value) -> None:
        """A task: chunks one after the other, all blocks of filters."""
        inputs, before, after = self._matrices(1), self._input_side(), self._output_side()
        each = -(-self._chunks // self.numbers["parts"])
        first, (full, rest) = emit.mul(part, each), self._blocks

        def chunk(number: Index, _: list[ir.Value]) -> list[ir.Value]:
            before.emit(inputs, number, 0, rows_of_chunk(self.numbers))

            def block(position: Index, _: list[ir.Value]) -> list[ir.Value]:
                after.emit(inputs, number, position, self.numbers["nr"])
                return []

            emit.for_loop(0, full, 1, [], block)
            if rest:
                after.emit(inputs, number, full, rest)
            return []

        emit.for_loop(first, emit.minimum(emit.add(first, each), self._chunks), 1, [], chunk)

    def _transform_part(self, whole: Matrices, chunk: ir.Value, part: ir.Value) -> None:
        """A task: some of the tiles of a chunk."""
        rows = rows_of_chunk(self.numbers)
        each = -(-rows // self.numbers["parts"])
        first = emit.mul(part, each)
        last = emit.minimum(emit.add(first, each), rows)
        self._input_side().emit(whole.of_set(chunk), chunk, first, last)

    def _one_block(self, whole: Matrices, block: ir.Value, chunk: ir.Value) -> None:
        """A task: a chunk times a block of filters, which may be a narrower one."""
        after, (full, rest) = self._output_side(), self._blocks

        def multiply(width: int) -> list[ir.Value]:
            after.emit(whole.of_set(chunk), chunk, block, width)
            return []

        if full and rest:
            emit.branch(emit.less(block, full), lambda: multiply(self.numbers["nr"]), lambda: multiply(rest))
        else:
            multiply(self.numbers["nr"] if full else rest)
