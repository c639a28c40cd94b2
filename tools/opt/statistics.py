"""Statistics of our passes in upstream's report."""

from __future__ import annotations

from collections.abc import Sequence

from aiopt.passes.manager import Counted

_RULE = f"==={'-' * 73}==="
_HEAD = f"{_RULE}\n{'... Pass statistics report ...':>55}\n{_RULE}\n"


def with_ours(text: str, counted: Sequence[Counted], display: str) -> str:
    """The standard error of a pass manager, with what our passes counted put into its report of statistics.

    display: "list" sums up the passes of one name, in upstream's order, which is that of names; "pipeline" has each
    pass in its place, where upstream's report has its name.
    """
    before, head, report = text.rpartition(_HEAD)
    if not head:
        return text
    body, end, after = report.partition("\n\n")
    lines = body.split("\n") if body else []
    put = _into_list if display == "list" else _into_pipeline
    return before + head + "\n".join(put(lines, counted)) + (end or "\n") + after


def _into_pipeline(lines: list[str], counted: Sequence[Counted]) -> list[str]:
    waiting = list(counted)
    found: list[str] = []
    for line in lines:
        found.append(line)
        name, margin = line.strip(), " " * (len(line) - len(line.lstrip()) + 2)
        ours = next((one for one in waiting if one.name == name), None)
        if ours is not None:
            waiting.remove(ours)
            found += _rows(ours, margin)
    return found


def _into_list(lines: list[str], counted: Sequence[Counted]) -> list[str]:
    sections: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if line.strip() and not line.startswith("    "):
            name = line.strip()
            sections[name] = []
        elif line.strip():
            sections[name].append(line)
    for one in _summed(counted):
        sections[one.name] = _rows(one, "    ")
    return [line for key in sorted(sections) for line in (f"  {key}", *sections[key])]


def _summed(counted: Sequence[Counted]) -> list[Counted]:
    sums: dict[str, Counted] = {}
    for one in counted:
        total = sums.setdefault(one.name, Counted(one.name, one.declared))
        total.counts.update(one.counts)
    return [one for one in sums.values() if one.declared]


def _rows(one: Counted, margin: str) -> list[str]:
    width = max((len(name) for name in one.declared), default=0)
    digits = max((len(str(one.counts[name])) for name in one.declared), default=0)
    return [f"{margin}(S) {one.counts[name]:>{digits}} {name:<{width}} - {text}" for name, text in one.declared.items()]
