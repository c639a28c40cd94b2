"""Which rows of each layer a kernel of several computes at a time: numbers only, no mlir here.

A band is some rows of the last layer's result. Of each layer before it are computed the rows that the next ones read
for it, those beside the band (the halo) again for the next band. The rows begin where the image does at the first,
and end where it ends at the last: all bands have as many of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Read:
    """Row y of a result needs `extent` rows of an earlier layer, from y * stride - pad on."""

    layer: int
    stride: int = 1
    pad: int = 0
    extent: int = 1


@dataclass(frozen=True)
class Layer:
    """Rows of a layer's result, bytes of each, and what a row needs of earlier layers."""

    rows: int
    line_bytes: int
    reads: tuple[Read, ...] = ()


@dataclass(frozen=True)
class Part:
    """The rows of a layer for band `b`: `count` from b * step - before on, moved to where they are on the image."""

    rows: int
    count: int
    step: int
    before: int

    def first(self, band: int) -> int:
        return min(max(band * self.step - self.before, 0), self.rows - self.count)


@dataclass(frozen=True)
class Bands:
    """The parts of all layers, the last one of which is in `number` bands of `parts[-1].count` rows."""

    parts: tuple[Part, ...]
    number: int

    def buffer_bytes(self, layers: Sequence[Layer]) -> int:
        """What the parts of all layers but the last take."""
        return sum(part.count * layer.line_bytes for part, layer in zip(self.parts[:-1], layers[:-1], strict=True))


def heights(rows: int) -> Iterator[int]:
    """How many rows a band may have, so that all have as many."""
    return (height for height in range(1, rows + 1) if rows % height == 0)


def cut(layers: Sequence[Layer], height: int) -> Bands | None:
    """Bands of so many rows; None where layers are read in ways that no part of a fixed size covers."""
    last = layers[-1]
    number = last.rows // height
    parts: dict[int, Part] = {len(layers) - 1: Part(last.rows, height, height, 0)}
    for index in reversed(range(len(layers) - 1)):
        part = _part(layers, index, parts, number)
        if part is None:
            return None
        parts[index] = part
    return Bands(tuple(parts[index] for index in range(len(layers))), number)


def _part(layers: Sequence[Layer], index: int, parts: dict[int, Part], number: int) -> Part | None:
    """The smallest part of a layer that has all that later ones read of it."""
    rows = layers[index].rows
    needs = [(read, parts[user]) for user in parts for read in layers[user].reads if read.layer == index]
    steps = {part.step * read.stride for read, part in needs}
    if len(steps) != 1:
        return None
    (step,) = steps
    before = max(part.before * read.stride + read.pad for read, part in needs)
    for count in range(1, rows + 1):
        tried = Part(rows, count, step, before)
        if all(_covers(tried, read, part, band) for read, part in needs for band in range(number)):
            return tried
    return None


def _covers(have: Part, read: Read, part: Part, band: int) -> bool:
    """True if the rows of a part that lie on the image are there for what is computed of a later layer."""
    first = part.first(band) * read.stride - read.pad
    last = (part.first(band) + part.count - 1) * read.stride - read.pad + read.extent
    start = have.first(band)
    return start <= max(first, 0) and min(last, have.rows) <= start + have.count
