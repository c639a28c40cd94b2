"""Where the elements of a kernel of rows are in its buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from aiopt.passes.templates import emit
from aiopt.passes.templates.access import row_major
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.row_reader import RowKernel
from aiopt.passes.templates.view import View


@dataclass(frozen=True)
class Place:
    """Rows: where they are along each axis of lead, and the first one of those side by side."""

    lead: tuple[Index, ...]
    inner: Index


@dataclass(frozen=True)
class Cell:
    """A vector at one step of the loop along rows: how many elements further on, and which of the rows side by side.

    A vector of one row has its lanes along it.
    """

    step: int
    chunk: Chunk
    block: int = 0


@dataclass(frozen=True)
class Walk:
    """A buffer as the loops see it: elements between neighbours along each axis of lead, along rows, and across."""

    buffer: ir.Value
    lead: tuple[int, ...]
    row: int
    inner: int
    across: bool  # vectors have a row a lane
    base: Index = 0  # where the first element is

    @staticmethod
    def of(view: View, shape: Sequence[int], kernel: RowKernel) -> Walk:
        """A tensor that broadcasts to the kernel's rows, of this shape in their rank; a dense one if it lacks axes."""
        strides = view.strides if len(view.strides) == len(shape) else row_major(shape)

        def stride(axes: Sequence[int]) -> int:
            return strides[axes[-1]] if axes and shape[axes[-1]] != 1 else 0

        lead = tuple(stride(axes) for axes in kernel.lead)
        return Walk(view.buffer, lead, stride(kernel.row), stride(kernel.inner), bool(kernel.inner), view.base)

    def load(self, place: Place, along: Index, cell: Cell) -> ir.Value:
        """A vector as f32; one element in all lanes where they all see the same."""
        at = self._position(place, along, cell)
        if (self.inner if self.across else self.row) == 0:
            return emit.load_scalar(self.buffer, at, cell.chunk.kind)
        return emit.load(self.buffer, at, cell.chunk)

    def store(self, value: ir.Value, place: Place, along: Index, cell: Cell) -> None:
        emit.store(value, self.buffer, self._position(place, along, cell), cell.chunk)

    def store_element(self, value: ir.Value, place: Place) -> None:
        """The value of one row, which is in all lanes."""
        one = Cell(0, Chunk(0, value.type.shape[0], 1))  # pyright: ignore[reportAttributeAccessIssue]
        self.store(value, place, 0, one)

    def _position(self, place: Place, along: Index, cell: Cell) -> Index:
        lead = emit.add(emit.dot(place.lead, self.lead), emit.mul(place.inner, self.inner))
        return emit.add(self.base, emit.add(lead, emit.mul(emit.add(along, cell.step), self.row)))
