"""The geometry of a convolution or pooling, and which of its taps each tile of pixels sees (numbers only)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from aiopt.dialects import ai
from aiopt.dialects.ai.winograd import TAPS
from aiopt.dialects.ext import type_of
from aiopt.passes.templates.blocking import split
from aiopt.passes.templates.kernel import Contraction


@dataclass(frozen=True)
class Axis:
    """A spatial axis: pixels before and after, taps of the kernel, and how they lie."""

    size: int
    count: int
    taps: int
    stride: int
    dilation: int
    pad: int  # zeros before the first pixel

    def sees(self, position: int, tap: int) -> bool:
        """True if this tap of the window at `position` is on a pixel, not on padding."""
        return 0 <= position * self.stride - self.pad + tap * self.dilation < self.size

    @property
    def inside(self) -> bool:
        """True if no window touches padding."""
        return self.sees(0, 0) and self.sees(self.count - 1, self.taps - 1)


def _plain(size: int) -> Axis:
    """An axis on which a pixel is a window."""
    return Axis(size, size, 1, 1, 1, 0)


@dataclass(frozen=True)
class Geometry:
    """With channels last: input [images, y.size, x.size, channels], result with counts and filters.

    rows: how many rows of the result are computed, all but for a band.
    """

    images: int
    y: Axis
    x: Axis
    channels: int
    filters: int
    group: int
    rows: int

    @property
    def depth(self) -> int:
        """Channels of a group."""
        return self.channels // self.group

    @property
    def is_pointwise(self) -> bool:
        """True if a pixel of the result sees one pixel of the input, and there are as many."""
        return all((a.taps, a.stride, a.pad, a.count) == (1, 1, 0, a.size) for a in (self.y, self.x))

    def in_rows(self, least: int) -> Geometry:
        """The pixels of a pointwise one in rows of at least so many, all in one if there is no other way.

        An even number of rows if there can be: two threads divide them evenly.
        """
        pixels = self.y.count * self.x.count
        sizes = [size for size in range(least, pixels) if pixels % size == 0]
        width = min(sizes, key=lambda size: (pixels // size % 2, size), default=pixels)
        return replace(self, y=_plain(pixels // width), x=_plain(width), rows=pixels // width)


@dataclass(frozen=True)
class Span:
    """Taps first <= tap < last of a row of the kernel, which the same pixels of a tile see."""

    first: int
    last: int
    pixels: tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """`times` tiles of `size` pixels each, side by side from pixel `start`, which see the same taps."""

    start: int
    size: int
    times: int
    spans: tuple[Span, ...]


def pairs_by_distance(axis: Axis, spans: tuple[Span, ...]) -> list[tuple[int, list[tuple[int, int]]]]:
    """For each pixel of the input, counted from the first window's start: the (pixel of the tile, tap) that read it."""
    found: dict[int, list[tuple[int, int]]] = {}
    for span in spans:
        for tap in range(span.first, span.last):
            for pixel in span.pixels:
                found.setdefault(pixel * axis.stride + tap * axis.dilation, []).append((pixel, tap))
    return sorted(found.items())


def read_geometry(kernel: Contraction) -> Geometry | None:
    """The geometry of a convolution of images with channels last; None for other kernels."""
    root = kernel.root
    if not isinstance(root, ai.ConvOp) or root.layout is None or len(list(root.strides)) != 2:
        return None
    image, weight, out = type_of(root.input), type_of(root.weight), kernel.out
    taps = weight.shape[1:3] if root.pack is not None else weight.shape[2:]
    taps = taps if root.winograd is None else (TAPS, TAPS)
    y, x = (
        Axis(image.shape[1 + i], out.shape[1 + i], taps[i], root.strides[i], root.dilations[i], root.pads[i])
        for i in range(2)
    )
    images, rows = (image.shape[0], y.count) if kernel.rows is None else (1, kernel.rows)
    return Geometry(images, y, x, image.shape[3], out.shape[3], root.group.value, rows)


def read_planes(kernel: Contraction) -> Geometry | None:
    """The geometry of a convolution of images with channels first; None for other kernels."""
    root = kernel.root
    if not isinstance(root, ai.ConvOp) or root.layout is not None or len(list(root.strides)) != 2:
        return None
    image, taps, out = type_of(root.input).shape, type_of(root.weight).shape[2:], kernel.out.shape
    y, x = (Axis(image[2 + i], out[2 + i], taps[i], root.strides[i], root.dilations[i], root.pads[i]) for i in range(2))
    return Geometry(image[0], y, x, image[1], out[1], root.group.value, y.count)


def read_pooling(kernel: Contraction) -> Geometry | None:
    """The geometry of a pooling of images with channels last, each channel on its own; None for other kernels."""
    root = kernel.root
    if not isinstance(root, (ai.MaxPoolOp, ai.AvgPoolOp)):
        return None
    image, out = type_of(root.input), kernel.out
    dilations = [1, 1] if root.dilations is None else root.dilations
    y, x = (
        Axis(image.shape[1 + i], out.shape[1 + i], root.kernel[i], root.strides[i], dilations[i], root.pads[i])
        for i in range(2)
    )
    channels = image.shape[3]
    return Geometry(image.shape[0], y, x, channels, channels, channels, y.count)


def is_depthwise(geometry: Geometry) -> bool:
    """One channel and one filter in each group (of several)."""
    return geometry.group == geometry.channels == geometry.filters > 1


def plan_row(axis: Axis, limit: int) -> list[Run]:
    """Cut a row of the result into tiles of at most `limit` pixels, with what each sees of a row of the kernel."""
    runs: list[Run] = []
    at = 0
    for size, times in split(axis.count, limit):
        for _ in range(times):
            spans = tuple(_spans(axis, range(at, at + size)))
            last = runs[-1] if runs else None
            if last is not None and (last.size, last.spans) == (size, spans):
                runs[-1] = Run(last.start, size, last.times + 1, spans)
            else:
                runs.append(Run(at, size, 1, spans))
            at += size
    return runs


def _spans(axis: Axis, positions: range) -> Iterable[Span]:
    spans: list[Span] = []
    for tap in range(axis.taps):
        pixels = tuple(i for i, position in enumerate(positions) if axis.sees(position, tap))
        if spans and spans[-1].pixels == pixels:
            spans[-1] = Span(spans[-1].first, tap + 1, pixels)
        else:
            spans.append(Span(tap, tap + 1, pixels))
    return [span for span in spans if span.pixels]
