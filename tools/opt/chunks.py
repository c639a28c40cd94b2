"""`--split-input-file`: a file as chunks that keep their line numbers."""

from __future__ import annotations

from collections.abc import Iterator

from aiopt.passes.source_printer import SourcePrinter
from aiopt.passes.text import Source

MARKER = "// -----"
_CHECKED = 2  # how much of the marker may be wrong for it to be a near miss


def split(data: bytes, name: str, marker: str, printer: SourcePrinter) -> Iterator[Source]:
    """The chunks between the markers. What almost is a marker is warned of and does not split."""
    whole, prefix, suffix = data, marker[:-_CHECKED].encode(), marker[-_CHECKED:].encode()
    start = at = 0
    while (found := whole.find(prefix, at)) >= 0:
        end = at = found + len(prefix)
        if whole.startswith(suffix, end) and whole[end + _CHECKED : end + _CHECKED + 1] != b"-":
            yield _chunk(whole, start, found, name)
            start = at = end + _CHECKED
        elif whole[end : end + 1] not in (b"", b"\n"):
            line = whole.count(b"\n", 0, found) + 1
            column = found - (whole.rfind(b"\n", 0, found) + 1) + 1
            printer.show_at((name, line, column), "warning", "near miss with file split marker")
    yield _chunk(whole, start, len(whole), name)


def _chunk(whole: bytes, start: int, end: int, name: str) -> Source:
    return Source(whole[start:end], name, whole.count(b"\n", 0, start))
