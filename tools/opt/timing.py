"""Execution times as a tree: the command's own phases and, below them, what upstream's pass managers measured."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_RULE = f"==={'-' * 73}==="
_TITLE = f"{_RULE}\n{'... Execution time report ...':>54}\n{_RULE}\n"
_LINE = re.compile(r"^ +(\d+\.\d+) \( *[\d.]+%\)  ( *)(.+)$", re.MULTILINE)


@dataclass
class Timer:
    """A node: seconds, and the timers inside."""

    name: str
    seconds: float = 0.0
    children: dict[str, Timer] = field(default_factory=dict)

    def child(self, name: str) -> Timer:
        return self.children.setdefault(name, Timer(name))

    def walk(self) -> Iterator[Timer]:
        yield self
        for child in self.children.values():
            yield from child.walk()


class Timing:
    """The timers of one command."""

    def __init__(self) -> None:
        self.root = Timer("root")
        self._start = time.perf_counter()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a block of the command's own."""
        timer, start = self.root.child(name), time.perf_counter()
        try:
            yield
        finally:
            timer.seconds += time.perf_counter() - start

    def add_report(self, text: str) -> None:
        """Add what a pass manager reported of itself, which is text and the only form there is."""
        path = [self.root]
        for seconds, indent, name in _LINE.findall(text):
            if name in ("Rest", "Total"):
                continue
            del path[len(indent) // 2 + 1 :]
            timer = path[-1].child(name)
            timer.seconds += float(seconds)
            path.append(timer)

    def report(self, display: str, form: str) -> str:
        """The report: display "tree" or "list", form "text" or "json"."""
        self.root.seconds = time.perf_counter() - self._start
        rest = Timer("Rest", self.root.seconds - sum(child.seconds for child in self.root.children.values()))
        rows = list(_rows(self.root)) if display == "tree" else _merged(self.root)
        tail = [(0, rest), (0, Timer("Total", self.root.seconds))]
        return self._json(display, [timer for _, timer in tail]) if form == "json" else self._text([*rows, *tail])

    def _text(self, rows: list[tuple[int, Timer]]) -> str:
        head = f"  Total Execution Time: {self.root.seconds:.4f} seconds\n\n  ----Wall Time----  ----Name----\n"
        lines = [f"  {t.seconds:8.4f} ({self._percent(t):5.1f}%)  {'  ' * depth}{t.name}\n" for depth, t in rows]
        return _TITLE + head + "".join(lines)

    def _json(self, display: str, tail: list[Timer]) -> str:
        if display == "list":
            parts = [f"{{{self._wall(timer)}}}" for _, timer in _merged(self.root)]
        else:
            parts = [self._node(child, 0) for child in self.root.children.values()]
        parts += [f"{{{self._wall(timer)}}}" for timer in tail]
        return "[\n" + ",\n".join(parts) + "\n]\n"

    def _node(self, timer: Timer, depth: int) -> str:
        margin = "  " * depth
        inner = "".join(self._node(child, depth + 1) + ",\n" for child in timer.children.values())
        return f'{margin}{{{self._wall(timer)}, "passes": [\n{inner}{margin}{{}}]}}'

    def _wall(self, timer: Timer) -> str:
        name = timer.name.replace("\\", "\\\\").replace('"', '\\"')
        return (
            f'"wall": {{"duration": {timer.seconds:8.4f}, "percentage": {self._percent(timer):5.1f}}}, "name": "{name}"'
        )

    def _percent(self, timer: Timer) -> float:
        return 100 * timer.seconds / self.root.seconds if self.root.seconds else 0.0


def _rows(timer: Timer, depth: int = 0) -> Iterator[tuple[int, Timer]]:
    for child in timer.children.values():
        yield depth, child
        yield from _rows(child, depth + 1)


def _merged(root: Timer) -> list[tuple[int, Timer]]:
    """All timers of one name as one, the longest first."""
    found: dict[str, Timer] = {}
    for timer in root.walk():
        found.setdefault(timer.name, Timer(timer.name)).seconds += timer.seconds
    return [(0, timer) for timer in sorted(found.values(), key=lambda timer: -timer.seconds)]
