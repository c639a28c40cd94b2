"""`--split-input-file`: a file as chunks that keep their places in it."""

from __future__ import annotations

from collections.abc import Iterator

from aiopt.passes.source_printer import SourcePrinter
from aiopt.passes.text import Source

MARKER = "// -----"
_CHECKED = 2  # how many characters of the marker may be others for it to be a near miss


def split(data: bytes, name: str, marker: str, printer: SourcePrinter) -> Iterator[Source]:
    """The chunks between the markers. What almost is a marker is warned of and does not split."""
    prefix, suffix = marker[:-_CHECKED].encode(), marker[-_CHECKED:].encode()
    start = at = 0
    while (found := data.find(prefix, at)) >= 0:
        at = found + len(prefix)
        if data.startswith(suffix, at) and len(data) > at + _CHECKED:
            yield _chunk(data, start, found, name)
            start = at = at + _CHECKED
        else:
            printer.show_at((name, *_position(data, at)), "warning", "near miss with file split marker")
    yield _chunk(data, start, len(data), name)


def _chunk(data: bytes, start: int, end: int, name: str) -> Source:
    line, column = _position(data, start)
    return Source(data[start:end], name, line - 1, column - 1)


def _position(data: bytes, offset: int) -> tuple[int, int]:
    return data.count(b"\n", 0, offset) + 1, offset - data.rfind(b"\n", 0, offset)
