"""Diagnostics as LLVM's tools show them: `file:line:column: error: text`, the line, and a caret below it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

from mlir import ir

from aiopt.passes.text import NAMELESS

TAB = 8
UNKNOWN = "<unknown>"
_STDERR = 2
KINDS = {
    ir.DiagnosticSeverity.ERROR: "error",
    ir.DiagnosticSeverity.WARNING: "warning",
    ir.DiagnosticSeverity.NOTE: "note",
    ir.DiagnosticSeverity.REMARK: "remark",
}

_NOT_FOR_US = "ignoring unknown external resources for 'mlir_reproducer'"  # --run-reproducer reads them from the text

Place = tuple[str, int, int]  # file, line, column


class SourcePrinter:
    """Shows diagnostics with the lines they speak of.

    name: what the input is called; text: the whole of it, so that it is not read again.
    kinds: what is shown of "error", "warning", "note" and "remark"; notes at an error belong to it.
    """

    def __init__(self, name: str, text: bytes | None = None, kinds: frozenset[str] = frozenset(KINDS.values())) -> None:
        self.name, self.kinds = name, kinds
        self._lines = cache(self._read_lines)
        self._text = text

    def handle(self, diagnostic: ir.Diagnostic) -> bool:
        """Show one diagnostic and its notes; a handler for `ir.Context.attach_diagnostic_handler`."""
        kind = KINDS[diagnostic.severity]
        if kind not in self.kinds or diagnostic.message == _NOT_FOR_US:
            return True
        first, *callers = list(_stack(diagnostic.location)) or [diagnostic.location]
        self.show(first, kind, diagnostic.message)
        for caller in callers:
            self.show(caller, "note", "called from")
        last = diagnostic.location
        for note in diagnostic.notes:
            self.show(note.location, KINDS[note.severity], note.message, with_line=note.location != last)
            last = note.location
        return True

    def show(self, location: ir.Location, kind: str, message: str, with_line: bool = True) -> None:
        """Show one message at a location."""
        place = self.place(location)
        where = "" if place or _is_unknown(location) else f"{location}: "
        self.show_at(place, kind, where + message, with_line)

    def show_at(self, place: Place | None, kind: str, message: str, with_line: bool = True, width: int = 1) -> None:
        """Show one message at a place in a file, or at an unknown one; `width` columns are marked."""
        if place is None:
            self.write(f"{UNKNOWN}:0: {kind}: {message}\n")
            return
        file, line, column = place
        text = self._line(file, line) if with_line and line and column else None
        if text is None or column > len(text) + 1:
            self.write(f"{file}:{line}:{column}: {kind}: {message}\n")
            return
        self.write(f"{file}:{line}:{column}: {kind}: {message}\n{_expand(text)}\n{_caret(text, column - 1, width)}")

    def place(self, location: ir.Location) -> Place | None:
        """The first place in a file that a location holds."""
        for found in _walk(location):
            if found.is_a_file():
                file = self.name if found.filename == NAMELESS else found.filename
                return file, found.start_line, found.start_col
        return None

    def write(self, text: str) -> None:
        """Append to the stream that native code writes to, so that what both say stays in order."""
        os.write(_STDERR, text.encode())

    def _line(self, file: str, number: int) -> str | None:
        lines = self._lines(file)
        return lines[number - 1] if number <= len(lines) else None

    def _read_lines(self, file: str) -> list[str]:
        if file == self.name and self._text is not None:
            data = self._text
        else:
            try:
                with open(file, "rb") as opened:
                    data = opened.read()
            except (OSError, ValueError):
                return []  # locations may name files that are not there; they are shown without their lines
        return data.decode(errors="replace").split("\n")


def _stack(location: ir.Location) -> Iterator[ir.Location]:
    """The places to show for a location: it, and where it was called from."""
    shown = _shown(location)
    if shown is not None:
        yield shown
    call = _call_site(location)
    while call is not None:
        caller = _shown(call.caller)
        if caller is not None:
            yield caller
        call = _call_site(call.caller)


def _shown(location: ir.Location) -> ir.Location | None:
    if location.is_a_file():
        return location
    return next((found for child in _children(location) if (found := _shown(child)) is not None), None)


def _children(location: ir.Location) -> list[ir.Location]:
    if location.is_a_callsite():
        return [location.callee]
    if location.is_a_fused():
        return list(location.locations)
    return [location.child_loc] if location.is_a_name() else []


def _call_site(location: ir.Location) -> ir.Location | None:
    if location.is_a_callsite():
        return location
    inner = [location.child_loc] if location.is_a_name() else location.locations if location.is_a_fused() else []
    return next((found for child in inner if (found := _call_site(child)) is not None), None)


def _walk(location: ir.Location) -> Iterator[ir.Location]:
    yield location
    for child in [*_children(location), *([location.caller] if location.is_a_callsite() else [])]:
        yield from _walk(child)


def _is_unknown(location: ir.Location) -> bool:
    return location == ir.Location.unknown(location.context)


def _expand(text: str) -> str:
    return text if not text.isascii() else text.expandtabs(TAB).rstrip("\r")


def _caret(text: str, column: int, width: int) -> str:
    """The line with the caret, which stands below the column whatever tabs are before it; none below non-ASCII."""
    if not text.isascii():
        return ""
    before = "".join("\t" if character == "\t" else " " for character in text[:column].ljust(column))
    return f"{before.expandtabs(TAB)}^{'~' * (width - 1)}\n"
