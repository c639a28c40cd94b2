"""Which task computes which rows."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Parameters
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.row_program import Extent, plan
from aiopt.passes.templates.row_reader import RowKernel
from aiopt.passes.templates.row_sweep import Rows, Run
from aiopt.passes.templates.row_walk import Cell, Place, Walk
from aiopt.passes.templates.view import Places


@dataclass(frozen=True)
class RowTasks:
    """Emits the kernel.

    numbers: `vectors` at a time; a task has `rows` along the last axis of lead, `together` at a time, and
    `columns` elements of each.
    """

    kernel: RowKernel
    numbers: Parameters
    rows: Rows
    first: Index  # of the rows along the last axis of lead

    @staticmethod
    def of(kernel: RowKernel, numbers: Parameters, places: Places) -> RowTasks:
        program = kernel.program
        loads = {s: Walk.of(places[s.value], s.shape, kernel) for s in program.steps if s.value is not None}
        shape = program.shape if program.steps[-1].extent is Extent.ROW else program.single
        destination = Walk.of(places[kernel.result], shape, kernel)
        rows = Rows(program, plan(program), loads, destination, numbers["lanes"], bool(numbers["fma"]))
        return RowTasks(kernel, numbers, rows, places.first)

    def emit(self) -> None:
        """The whole kernel: a parallel loop over tasks."""
        sizes = [self.kernel.size(axes) for axes in self.kernel.lead]
        if self.kernel.inner:
            width = self.numbers["vectors"] * self.numbers["lanes"]
            emit.forall([*sizes, -(-self.kernel.size(self.kernel.inner) // width)], self._side_by_side)
        else:
            parts = -(-self.kernel.size(self.kernel.row) // self.numbers["columns"])
            emit.forall([*sizes[:-1], -(-self.kernel.count // self.numbers["rows"]), parts], self._one_by_one)

    def _side_by_side(self, *indices: ir.Value) -> None:
        """A task: rows whose elements lie beside one another, a row a lane."""
        *lead, block = indices
        vectors, lanes = self.numbers["vectors"], self.numbers["lanes"]
        full, rest = divmod(self.kernel.size(self.kernel.inner), vectors * lanes)
        place = Place(tuple(lead), emit.mul(block, vectors * lanes))

        def rows(count: int) -> list[ir.Value]:
            sides = [Cell(0, chunk, number) for number, chunk in enumerate(emit.chunks(count, lanes))]
            unroll = max(1, vectors * lanes // count)
            cells = [Cell(step, cell.chunk, cell.block) for step in range(unroll) for cell in sides]
            Run(self.rows, [place], cells, unroll, 0, self.kernel.size(self.kernel.row)).emit()
            return []

        if full and rest:
            emit.branch(emit.less(block, full), lambda: rows(vectors * lanes), lambda: rows(rest))
        else:
            rows(vectors * lanes if full else rest)

    def _one_by_one(self, *indices: ir.Value) -> None:
        """A task: some rows, one after the other, or a part of each."""
        *outer, group, part = indices
        rows = self.numbers["rows"]
        last = self.kernel.count
        together = self.numbers["together"]
        over = last % together

        def run(at: Index, count: int) -> None:
            starts = [emit.add(emit.add(self.first, at), i) for i in range(count)]
            self._rows([Place((*outer, start) if self.kernel.lead else (), 0) for start in starts], part)

        def some(at: Index, _: list[ir.Value]) -> list[ir.Value]:
            run(at, together)
            return []

        first = emit.mul(group, rows)
        end = emit.add(first, rows)
        emit.for_loop(first, emit.minimum(end, last - over) if last % rows else end, together, [], some)
        if over:
            emit.when(emit.equal(group, (last - 1) // rows), lambda: run(last - over, over))

    def _rows(self, places: list[Place], part: ir.Value) -> None:
        lanes, columns = self.numbers["lanes"], self.numbers["columns"]
        full, rest = divmod(self.kernel.size(self.kernel.row), columns)
        width = self.numbers["vectors"] * lanes
        cells = [Cell(0, Chunk(0, width, width), block) for block in range(len(places))]

        def run(size: int) -> list[ir.Value]:
            first = emit.mul(part, columns) if full + bool(rest) > 1 else 0
            Run(self.rows, places, cells, width, first, size).emit()
            return []

        if full and rest:
            emit.branch(emit.less(part, full), lambda: run(columns), lambda: run(rest))
        else:
            run(columns if full else rest)
