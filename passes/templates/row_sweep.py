"""The loops along rows: one for each sweep, with all that needs no other one in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from mlir import ir
from mlir.dialects import memref, vector

from aiopt.passes.lower.math.builder import FloatBuilder
from aiopt.passes.templates import emit, row_folds
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.row_folds import CHAIN
from aiopt.passes.templates.row_program import Extent, Fold, Program, Step, Sweep
from aiopt.passes.templates.row_walk import Cell, Place, Walk

Values = dict[Step, ir.Value]
Totals = dict[tuple[Step, int], ir.Value]  # of each fold and block of rows side by side


@dataclass(frozen=True)
class Rows:
    """What the loops along all rows of a kernel share."""

    program: Program
    sweeps: list[Sweep]
    loads: dict[Step, Walk]
    destination: Walk
    lanes: int  # of a register
    fma: bool

    @property
    def result(self) -> Step:
        return self.program.steps[-1]


@dataclass
class Run:
    """Elements from `first` on, `size` of them, of one row at each place, a block each, or of rows side by side at one.

    cells: the vectors of one step of the loop, which goes `stride` elements on.
    """

    rows: Rows
    places: list[Place]
    cells: list[Cell]
    stride: int
    first: Index
    size: int
    singles: dict[tuple[Step, int], ir.Value] = field(default_factory=dict)
    kept: dict[Step, list[tuple[Walk, Place]]] = field(default_factory=dict)

    @property
    def _across(self) -> bool:
        return self.rows.destination.across

    @property
    def _sides(self) -> list[Cell]:
        """A vector for the values that rows have one of: for each block of those side by side, else for each place."""
        if self._across:
            return [cell for cell in self.cells if cell.step == 0]
        lanes = self.rows.lanes
        return [Cell(0, Chunk(0, lanes, lanes), block) for block in range(len(self.places))]

    def emit(self) -> None:
        """All sweeps."""
        for sweep in self.rows.sweeps:
            self._compute_singles()
            for step in sweep.kept:
                self.kept[step] = self._room()
            self._sweep(sweep)
        self._compute_singles()
        result = self.rows.result
        if result.extent is Extent.SINGLE:
            for cell in self._sides:
                value = self.singles[result, cell.block]
                if self._across:
                    self.rows.destination.store(value, self._place(cell), 0, cell)
                else:
                    self.rows.destination.store_element(value, self._place(cell))

    def _compute_singles(self) -> None:
        """Of the steps with one value a row those whose operands are there."""
        for step in self.rows.program.steps:
            for cell in self._sides:
                key = (step, cell.block)
                if step.extent is not Extent.SINGLE or step.fold is not None or key in self.singles:
                    continue
                operands = [(operand, cell.block) for operand in step.operands]
                if step in self.rows.loads:
                    self.singles[key] = self.rows.loads[step].load(self._place(cell), 0, cell)
                elif step.compute is not None and all(operand in self.singles for operand in operands):
                    self.singles[key] = step.compute(self._build(cell), *(self.singles[o] for o in operands))

    def _build(self, cell: Cell) -> FloatBuilder:
        return FloatBuilder(cell.chunk.kind, self.rows.fma)

    def _single(self, step: Step, cell: Cell) -> ir.Value:
        """A value of a row as the vector that goes with a cell."""
        value = self.singles[step, cell.block]
        if value.type == cell.chunk.kind:
            return value
        return vector.BroadcastOp(cell.chunk.kind, vector.ExtractOp(value, [], [0]).result).result

    def _place(self, cell: Cell) -> Place:
        return self.places[0 if self._across else cell.block]

    def _room(self) -> list[tuple[Walk, Place]]:
        """Where a step is kept, for each place: at first in the rows of the result themselves, else in a buffer.

        Rows side by side get a buffer in any case: in the result a row's elements are far from each other.
        """
        destination = self.rows.destination
        element = destination.buffer.type.element_type  # pyright: ignore[reportAttributeAccessIssue]
        is_whole = self.rows.result.extent is Extent.ROW and isinstance(element, ir.F32Type) and not self._across
        if is_whole and all(walk is not destination for rooms in self.kept.values() for walk, _ in rooms):
            return [(destination, place) for place in self.places]
        width = sum(cell.chunk.lanes for cell in self._sides) if self._across else 1
        kind = ir.MemRefType.get([self.size * width], ir.F32Type.get())

        def room(place: Place) -> tuple[Walk, Place]:
            lead = (0,) * len(place.lead)
            buffer = memref.AllocOp(kind, [], []).result
            return Walk(buffer, lead, width, int(self._across), self._across), Place(place.lead, 0)

        return [room(place) for place in self.places]

    def _kept(self, step: Step, cell: Cell) -> tuple[Walk, Place]:
        return self.kept[step][0 if self._across else cell.block]

    def _sweep(self, sweep: Sweep) -> None:
        """The loop over whole steps, in chains of sums, then what is left of the row."""
        steps, rest = divmod(self.size, self.stride)
        has_sum = any(step.fold is Fold.SUM for step in sweep.folds)
        chain = CHAIN if has_sum else max(steps, 1)
        keys = [(fold, side) for fold in sweep.folds for side in self._sides]
        whole = steps // chain if steps > chain else 0

        def links(start: Index, count: int) -> Totals:
            end = emit.add(start, count * self.stride)
            loop = partial(self._step, sweep, self.cells)
            sums = emit.for_loop(start, end, self.stride, self._neutrals(sweep, self.cells), loop)
            return self._join(sweep, self.cells, sums)

        def link(start: Index, totals: list[ir.Value]) -> list[ir.Value]:
            parts, given = links(start, chain), zip(keys, totals, strict=True)
            return [row_folds.merge(fold, total, parts[fold, side.block]) for (fold, side), total in given]

        done, totals = emit.add(self.first, whole * chain * self.stride), Totals()
        if whole:
            start = [row_folds.empty(fold, cell.chunk.kind) for fold, cell in keys]
            found = emit.for_loop(self.first, done, chain * self.stride, start, link)
            totals = {(fold, cell.block): total for (fold, cell), total in zip(keys, found, strict=True)}
        if steps > whole * chain:
            _merge(totals, links(done, steps - whole * chain))
        if rest:
            cells = self._rest(rest)
            at = emit.add(self.first, steps * self.stride)
            _merge(totals, self._join(sweep, cells, self._step(sweep, cells, at, self._neutrals(sweep, cells))))
        for (fold, block), total in totals.items():
            self.singles[fold, block] = row_folds.finish(fold, total, self._across)

    def _rest(self, size: int) -> list[Cell]:
        """The cells of the last elements, fewer than a whole step; along a row in vectors that fill one register."""
        if self._across:
            return [cell for cell in self.cells if cell.step < size]
        lanes = self.rows.lanes
        blocks, starts = range(len(self.places)), range(0, size, lanes)
        return [Cell(at, Chunk(0, lanes, min(lanes, size - at)), block) for block in blocks for at in starts]

    def _neutrals(self, sweep: Sweep, cells: Sequence[Cell]) -> list[ir.Value]:
        """The partial results before the first step. Where a function needs the registers they are one each."""
        lanes = self.rows.lanes

        def kind(cell: Cell) -> ir.VectorType:
            is_cut = sweep.is_costly and not self._across and cell.chunk.lanes > lanes
            return ir.VectorType.get([lanes], ir.F32Type.get()) if is_cut else cell.chunk.kind

        return [row_folds.neutral(fold, kind(cell)) for fold in sweep.folds for cell in cells]

    def _step(self, sweep: Sweep, cells: Sequence[Cell], along: Index, sums: list[ir.Value]) -> list[ir.Value]:
        """Compute some cells; the partial results of the folds, one for each fold and cell, with them."""
        result = list(sums)
        for number, cell in enumerate(cells):
            values = self._compute(sweep, along, cell)
            for at, fold in enumerate(sweep.folds):
                place = at * len(cells) + number
                valid = cell.chunk.lanes if self._across else cell.chunk.valid
                result[place] = row_folds.take(fold, values[fold.operands[0]], result[place], valid)
        return result

    def _compute(self, sweep: Sweep, along: Index, cell: Cell) -> Values:
        """The steps of a sweep for one cell, kept or stored where they have to be."""
        values: Values = {}
        for step in sweep.steps:
            if step in sweep.reused:
                walk, place = self._kept(step, cell)
                values[step] = walk.load(place, along, cell)
            elif step in self.rows.loads:
                values[step] = self.rows.loads[step].load(self._place(cell), along, cell)
            else:
                operands = [values[o] if o in values else self._single(o, cell) for o in step.operands]
                assert step.compute is not None, "folds are no steps of elements"
                values[step] = step.compute(self._build(cell), *operands)
            if step in sweep.kept:
                walk, place = self._kept(step, cell)
                walk.store(values[step], place, along, cell)
        if sweep is self.rows.sweeps[-1] and self.rows.result in values:
            self.rows.destination.store(values[self.rows.result], self._place(cell), along, cell)
        return values

    def _join(self, sweep: Sweep, cells: Sequence[Cell], sums: Sequence[ir.Value]) -> Totals:
        """The partial results of each fold, those of one block joined."""
        found: Totals = {}
        for at, fold in enumerate(sweep.folds):
            own = sums[at * len(cells) : (at + 1) * len(cells)]
            for side in self._sides:
                parts = [value for value, cell in zip(own, cells, strict=True) if cell.block == side.block]
                if parts:
                    found[fold, side.block] = row_folds.join(fold, parts, side.chunk.kind)
        return found


def _merge(totals: Totals, parts: Totals) -> None:
    """Add partial results to those there are."""
    for (fold, block), part in parts.items():
        given = totals.get((fold, block))
        totals[fold, block] = part if given is None else row_folds.merge(fold, given, part)
