"""`--verify-diagnostics`: hold the diagnostics that come against the `expected-*` comments of a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlir import ir

from aiopt.passes.source_printer import KINDS, Place, SourcePrinter

_COMMENT = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?P<where>@(?P<offset>[+-][0-9]+|above|below|unknown))? *\{\{(?P<text>.*)\}\}$"
)
_PART = re.compile(r"\{\{(.*?)\}\}")


@dataclass
class Expected:
    """One comment: what is expected, on which line (0: at an unknown location), and where the comment stands."""

    kind: str
    line: int
    text: str
    is_regex: bool
    at: tuple[int, int]  # line, column
    met: bool = False

    def matches(self, message: str) -> bool:
        if not self.is_regex:
            return self.text in message
        parts = _PART.split(self.text)
        pattern = "".join(f"(?:{part})" if index % 2 else re.escape(part) for index, part in enumerate(parts))
        return re.search(pattern, message) is not None


class ExpectedDiagnostics:
    """Takes the place of a printer: says only what differs from the comments.

    level: "all", or "only-expected", which accepts diagnostics that nobody expected.
    """

    def __init__(self, printer: SourcePrinter, text: str, level: str) -> None:
        self.printer, self.level = printer, level
        self.failed = False
        self.expected = list(_comments(text))

    def handle(self, diagnostic: ir.Diagnostic) -> bool:
        """Check one diagnostic and its notes; a handler for `ir.Context.attach_diagnostic_handler`."""
        self.process(self.printer.place(diagnostic.location), KINDS[diagnostic.severity], diagnostic.message)
        for note in diagnostic.notes:
            self.process(self.printer.place(note.location), KINDS[note.severity], note.message)
        return True

    def process(self, place: Place | None, kind: str, message: str) -> None:
        """Check one message; place: None if where it belongs is unknown."""
        line = place[1] if place and place[0] == self.printer.name else 0 if place is None else -1
        same_place = [one for one in self.expected if one.line == line and one.matches(message)]
        for one in same_place:
            if one.kind == kind:
                one.met = True
                return
        if self.level == "only-expected":
            return
        self.failed = True
        if same_place:
            near = same_place[-1]
            text = f"'{kind}' diagnostic emitted when expecting a '{near.kind}'"
            self.printer.show_at((self.printer.name, *near.at), "error", text)
        else:
            self.printer.show_at(place, "error", f"unexpected {kind}: {message}")

    def finish(self) -> bool:
        """Name what was expected and did not come; True if all came and nothing else did."""
        for one in self.expected:
            if not one.met:
                self.failed = True
                text = f'expected {one.kind} "{one.text}" was not produced'
                self.printer.show_at((self.printer.name, *one.at), "error", text, width=max(1, len(one.text)))
        return not self.failed


def _comments(text: str) -> list[Expected]:
    found: list[Expected] = []
    waiting: list[Expected] = []  # for the next line without a comment (@below)
    last_plain = 0  # the last line without a comment (@above)
    for number, line in enumerate(text.split("\n"), 1):
        match = _COMMENT.search(line.rstrip())
        if match is None:
            for one in waiting:
                one.line = number
            waiting, last_plain = [], number
            continue
        one = Expected(match["kind"], number, match["text"], bool(match["regex"]), (number, match.start() + 1))
        offset = match["offset"]
        if offset == "unknown":
            one.line = 0
        elif offset == "above":
            one.line = last_plain
        elif offset == "below":
            waiting.append(one)
        elif offset:
            one.line = number + int(offset)
        found.append(one)
    return found
