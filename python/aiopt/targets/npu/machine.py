"""Machines: the sizes and rates of an NPU, from a TOML file. Everything below the compiler reads them."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import OptionError

_PRESETS = Path(__file__).parent / "machines"
_KEYS = {  # where a field of Machine stands in the file, and its range
    "mhz": ("", "mhz", 1, 100_000),
    "rows": ("array", "rows", 1, 512),
    "columns": ("array", "columns", 1, 512),
    "int8_cycles": ("array", "int8_cycles", 1, 64),
    "f32_cycles": ("array", "f32_cycles", 1, 64),
    "spad_kib": ("memory", "spad_kib", 1, 1 << 20),
    "acc_kib": ("memory", "acc_kib", 1, 1 << 20),
    "dma_bytes_per_cycle": ("dma", "bytes_per_cycle", 1, 1 << 16),
    "dma_latency": ("dma", "latency", 0, 1 << 20),
    "dma_burst": ("dma", "burst", 1, 1 << 16),
    "lanes": ("vector", "lanes", 1, 4096),
}


@dataclass(frozen=True)
class Machine:
    """An NPU: a weight-stationary systolic array with shadow weights, two memories on the chip, DMA, a vector unit."""

    name: str
    mhz: int
    rows: int  # of the array: the terms of a sum that one pass adds up
    columns: int  # of the array: the sums that one pass makes for each row of its left operand
    int8_cycles: int  # cycles from one row of the left operand to the next
    f32_cycles: int
    spad_kib: int  # scratchpad: operands and results, int8 and f32
    acc_kib: int  # accumulators: sums, int32 and f32
    dma_bytes_per_cycle: int  # of each direction
    dma_latency: int  # cycles until the first byte
    dma_burst: int  # bytes; dram is read and written in whole ones
    lanes: int  # elements the vector unit takes per cycle

    @property
    def spad_bytes(self) -> int:
        return self.spad_kib << 10

    @property
    def acc_bytes(self) -> int:
        return self.acc_kib << 10

    def hash(self) -> bytes:
        """SHA-256 of all a binary depends on: every number; not the name."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "name"}
        return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).digest()


def presets() -> list[str]:
    """The names of the machines that come with aiopt."""
    return sorted(path.stem for path in _PRESETS.glob("*.toml"))


def find_machine(name: str) -> Machine:
    """The machine of a preset's name or of a file `*.toml`. Raises OptionError."""
    if name.endswith(".toml"):
        return _read(Path(name))
    if name not in presets():
        raise OptionError(
            f"there is no machine '{name}'{did_you_mean(name, presets())} "
            f"(there are: {', '.join(presets())}, and any file *.toml)"
        )
    return _read(_PRESETS / f"{name}.toml")


def find_by_hash(digest: bytes) -> Machine | None:
    """The preset a binary was made for, if it is one."""
    return next((machine for machine in map(find_machine, presets()) if machine.hash() == digest), None)


def _read(path: Path) -> Machine:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise OptionError(f"cannot read machine file '{path}': {reason}") from error
    return parse_machine(text, str(path))


def parse_machine(text: str, origin: str) -> Machine:
    """A machine from TOML; `origin` names the file in errors. Raises OptionError."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise OptionError(f"machine file '{origin}' is not TOML: {error}") from error
    found = _flatten(document, origin)
    known = {_spell(table, key): field for field, (table, key, *_) in _KEYS.items()} | {"name": "name"}
    for key in found:
        if key not in known:
            raise OptionError(f"machine file '{origin}' has an unknown key '{key}'{did_you_mean(key, known)}")
    for key in known:
        if key not in found:
            raise OptionError(f"machine file '{origin}' has no key '{key}'")
    if not isinstance(found["name"], str) or not found["name"].isidentifier():
        raise OptionError(f"machine file '{origin}': name must be a word, but is {found['name']!r}")
    numbers = {field: _number(found, field, origin) for field in _KEYS}
    return Machine(name=found["name"], **numbers)


def _flatten(document: Mapping[str, Any], origin: str) -> dict[str, Any]:
    tables = {table for table, *_ in _KEYS.values() if table}
    found: dict[str, Any] = {}
    for key, value in document.items():
        if key in tables and not isinstance(value, dict):
            raise OptionError(f"machine file '{origin}': '{key}' must be a table")
        found.update({_spell(key, inner): v for inner, v in value.items()} if isinstance(value, dict) else {key: value})
    return found


def _spell(table: str, key: str) -> str:
    return f"{table}.{key}" if table else key


def _number(found: Mapping[str, Any], field: str, origin: str) -> int:
    table, key, low, high = _KEYS[field]
    value = found[_spell(table, key)]
    if type(value) is not int or not low <= value <= high:
        raise OptionError(
            f"machine file '{origin}': {_spell(table, key)} must be a whole number from {low} to {high}, "
            f"but is {value!r}"
        )
    return value
