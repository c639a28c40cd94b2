"""Where templates find the elements of a tensor: a flat buffer, a stride for each axis, a first place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mlir import ir

from aiopt.passes.templates import emit
from aiopt.passes.templates.access import Access, row_major
from aiopt.passes.templates.emit import Index


@dataclass(frozen=True)
class View:
    """A tensor of this shape: element (i, j, ...) is at base + i * strides[0] + j * strides[1] + ... of the buffer."""

    buffer: ir.Value  # flat
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    base: Index = 0

    @staticmethod
    def dense(buffer: ir.Value, shape: Sequence[int]) -> View:
        """All of a row-major buffer."""
        return View(emit.flat(buffer), tuple(shape), row_major(shape))

    def shifted(self, distance: Index) -> View:
        """The same some elements further on."""
        return replace(self, base=emit.add(self.base, distance))

    def seen(self, access: Access) -> View:
        """What is made of it, a whole row-major buffer, as it is read."""
        return replace(self, shape=access.shape, strides=access.strides).shifted(access.offset)

    def part(self, shape: Sequence[int], axis: int, offset: int) -> View:
        """The part of this shape that begins `offset` elements along an axis."""
        return replace(self, shape=tuple(shape)).shifted(offset * self.strides[axis])


@dataclass(frozen=True)
class Places:
    """The views of a kernel's values. first: the first of the rows that are computed, where these are a band."""

    views: Mapping[ir.Value, View]
    first: Index = 0

    def __getitem__(self, value: ir.Value) -> View:
        return self.views[value]

    def __contains__(self, value: ir.Value) -> bool:
        return value in self.views
