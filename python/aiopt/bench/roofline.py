"""What the machine can do, and how near each kernel comes: the roofline model.

Source: Williams et al., "Roofline: An Insightful Visual Performance Model", 2009.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_COPY_SECONDS = 0.2
# Working sets that lie in L1/L2, in L3 and in memory, of any CPU that is likely.
_LEVELS = {"L2": 192 << 10, "L3": 6 << 20, "memory": 256 << 20}


@dataclass(frozen=True)
class Machine:
    """flops: multiply-adds in f32, counted as two, per second and core; bandwidth: bytes per second by working set.

    Bandwidth is that of a copy, reads and writes counted; a kernel that only reads can be a little faster.
    """

    flops: float
    bandwidth: Mapping[str, float]

    def bound(self, flops: float, moved: float) -> tuple[float, str]:
        """The least seconds of a kernel, and what it is bound by."""
        level = next((name for name, size in _LEVELS.items() if moved <= size), "memory")
        compute, memory = flops / self.flops, moved / self.bandwidth[level]
        return (compute, "compute") if compute >= memory else (memory, level)


def measure_machine(threads: int) -> Machine:
    """Of this machine, now. Peaks of several threads are taken as that many times one thread's, memory's as one's."""
    flops = fma_peak() * threads
    speeds = {name: _copy_speed(size) for name, size in _LEVELS.items()}
    return Machine(flops, {name: speed * (threads if name != "memory" else 1) for name, speed in speeds.items()})


def _copy_speed(size: int) -> float:
    source, target = np.ones(size // 8, np.float32), np.zeros(size // 8, np.float32)
    best, end = float("inf"), time.perf_counter() + _COPY_SECONDS
    repeat = max(1, (1 << 20) // size)
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(repeat):
            np.copyto(target, source)
        best = min(best, (time.perf_counter() - start) / repeat)
    return 2 * source.nbytes / best


@dataclass(frozen=True)
class Row:
    """A kernel call: seconds measured, the share of the roofline (0 to 1), and what bounds it."""

    kernel: str
    ops: str
    seconds: float
    flops: int
    bytes: int
    share: float
    bound: str


def rows(report: Mapping[str, Any], profile: Sequence[tuple[str, float]], machine: Machine) -> Iterator[Row]:
    """The kernel calls of a profile, in order; what has no entry in the report is a node that is not compiled."""
    kernels = {entry["kernel"]: entry for entry in report.get("kernels", [])}
    for name, seconds in profile:
        entries = [kernels[part] for part in name.split("|") if part in kernels]  # of a region: all its kernels
        flops, moved = (sum(entry.get(key, 0) for entry in entries) for key in ("flops", "bytes"))
        least, bound = machine.bound(flops, moved)
        share = least / seconds if seconds > 0 else 0.0
        ops = "|".join("+".join(entry.get("ops", [])) for entry in entries)
        yield Row(name, ops, seconds, flops, moved, share, bound if entries else "host")


def table(found: Sequence[Row]) -> str:
    """The rows, the longest first, as text."""
    total = sum(row.seconds for row in found) or 1.0
    lines = [f"{'kernel':40s} {'us':>9s} {'of all':>6s} {'GFLOP/s':>8s} {'GB/s':>6s} {'roof':>5s}  bound"]
    for row in sorted(found, key=lambda row: -row.seconds):
        rates = (row.flops / row.seconds / 1e9, row.bytes / row.seconds / 1e9) if row.seconds else (0.0, 0.0)
        share = f"{100 * row.seconds / total:5.1f}%"
        lines.append(
            f"{row.kernel[:40]:40s} {row.seconds * 1e6:9.1f} {share} {rates[0]:8.1f} {rates[1]:6.1f} "
            f"{100 * row.share:4.0f}%  {row.bound}"
        )
    best = sum(row.share * row.seconds for row in found)
    lines.append(f"{'all':40s} {total * 1e6:9.1f}  roofline {best * 1e6:.1f} us: {100 * best / total:.0f} %")
    return "\n".join(lines)


def trace(profile: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """A run as a trace of Chrome's event format, which chrome://tracing and Perfetto read; times in microseconds."""
    events, now = [], 0.0
    for name, seconds in profile:
        events.append({"name": name, "ph": "X", "ts": now * 1e6, "dur": seconds * 1e6, "pid": 1, "tid": 1})
        now += seconds
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def fma_peak() -> float:
    """Multiply-adds that stay in registers on one core, in flop/s."""
    from aiopt.bench.peak import fma_peak as measured  # brings mlir

    return measured()
