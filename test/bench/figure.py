"""One measured figure beside what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A line of the report: `name: measured (asked: ...)`."""

    name: str
    measured: str
    asked: str
    met: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.measured} (asked: {self.asked}){'' if self.met else ' MISSED'}"


def at_most(name: str, measured: float, most: float, unit: str = "") -> Figure:
    """A number that must not be larger than `most` (a NaN is)."""
    unit = f" {unit}" if unit else ""
    return Figure(name, f"{measured:.4g}{unit}", f"<= {most:g}{unit}", measured <= most)


def at_least(name: str, measured: float, least: float) -> Figure:
    """A number that must not be smaller than `least` (a NaN is)."""
    return Figure(name, f"{measured:.4g}", f">= {least:g}", measured >= least)


def failed(name: str, error: BaseException) -> Figure:
    """What could not be measured, and why."""
    return Figure(name, " ".join(str(error).split()) or type(error).__name__, "a measurement", False)
