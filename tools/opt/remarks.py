"""`--remarks-filter*`: which remarks of our passes are shown, and how."""

from __future__ import annotations

import re
from collections.abc import Callable

from mlir import ir

from aiopt.passes.remark import ANALYSIS, FAILED, MISSED, PASSED, Remark
from aiopt.passes.source_printer import SourcePrinter
from aiopt.support.errors import OptionError
from aiopt.tools.opt.command_line import Given

_FLAGS = {PASSED: "passed", MISSED: "missed", FAILED: "failed", ANALYSIS: "analyse"}
_QUOTED = set(" ,{}")  # values with one of these stand in quotes


class Remarks:
    """Takes the remarks of a run; `category` is the name of the pass that made one.

    With --remark-policy=final the last of those that say the same of one place stands for all, at the end.
    """

    def __init__(self, given: Given, show: Callable[[ir.Location | None, str], None], printer: SourcePrinter) -> None:
        self._values, self._show, self._printer = given.values, show, printer
        self._filters = {kind: self._filter(flag) for kind, flag in _FLAGS.items()}
        self._waiting: dict[tuple[object, ...], tuple[str, Remark]] = {}
        self._yaml: list[str] = []

    @property
    def wanted(self) -> bool:
        return any(self._filters.values())

    def take(self, category: str, text: str) -> None:
        """A pass made a remark."""
        remark = text if isinstance(text, Remark) else Remark(text)
        if not any(pattern.fullmatch(category) for pattern in self._filters[remark.kind]):
            return
        if self._values.remark_policy == "final":
            key = (category, remark.kind, remark.name, remark.function, str(remark.location))
            self._waiting.pop(key, None)
            self._waiting[key] = category, remark
        else:
            self._emit(category, remark)

    def finish(self) -> str | None:
        """Show what is left; the contents of the output file, if there is one."""
        for category, remark in self._waiting.values():
            self._emit(category, remark)
        self._waiting.clear()
        return "".join(self._yaml) if self.wanted and self._values.remark_format == "yaml" else None

    def _filter(self, flag: str) -> list[re.Pattern[str]]:
        found = []
        for name in ("remarks_filter", f"remarks_filter_{flag}"):
            text = getattr(self._values, name)
            if text is not None:
                try:
                    found.append(re.compile(text))
                except re.error as error:
                    raise OptionError(
                        f"--{name.replace('_', '-')}: '{text}' is no regular expression: {error}"
                    ) from error
        return found

    def _emit(self, category: str, remark: Remark) -> None:
        if self._values.remark_format == "yaml":
            self._yaml.append(self._as_yaml(category, remark))
            return
        function = f"Function={remark.function} | " if remark.function else ""
        value = f'"{remark}"' if _QUOTED & set(remark) else str(remark)
        text = f"[{remark.kind}] {remark.name} | Category:{category} | {function}Remark={value}"
        self._show(remark.location, text)

    def _as_yaml(self, category: str, remark: Remark) -> str:
        place = self._printer.place(remark.location) if remark.location is not None else None
        lines = [f"--- !{remark.kind}", f"Pass:            {category}", f"Name:            {remark.name}"]
        if place:
            lines.append(f"DebugLoc:        {{ File: {_scalar(place[0])}, Line: {place[1]}, Column: {place[2]} }}")
        lines.append(f"Function:        {_scalar(remark.function or '<unknown function>')}")
        return "\n".join([*lines, "Args:", f"  - Remark:          {_scalar(str(remark))}", "...\n"])


def _scalar(text: str) -> str:
    """A YAML scalar, in quotes where it needs them."""
    return text if re.fullmatch(r"[A-Za-z_][\w.-]*", text) else "'" + text.replace("'", "''") + "'"
