"""What the machine can do, and how near each kernel comes: the roofline of the cost model, on measured numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aiopt.support.cost import Machine, Work

_COPY_SECONDS = 0.1
_LEAST_RUNS = 4  # the first one meets pages that are not there yet
_MEMORY_BYTES = 256 << 20  # more than caches hold
_HOST = "host"  # what is not compiled


class Gauge:
    """Measures this machine again and again, and keeps the best: what else runs on it only ever takes something away.

    Peaks of several threads are taken as that many times one thread's, memory's as one's.
    """

    def __init__(self) -> None:
        self._flops = 0.0
        self._bandwidth: dict[str, float] = {}
        self._sizes: dict[str, int] = {}

    def measure(self) -> None:
        """Measure once, for about a second."""
        flops, self._sizes = _look()
        self._flops = max(self._flops, flops)
        for level, size in {**self._sizes, "memory": _MEMORY_BYTES}.items():
            if size:
                speed = _speed(size if level == "memory" else size // 4)
                self._bandwidth[level] = max(self._bandwidth.get(level, 0.0), speed)

    def machine(self, threads: int) -> Machine:
        """The best so far, of so many threads."""
        bandwidth = {level: speed * (1 if level == "memory" else threads) for level, speed in self._bandwidth.items()}
        return Machine(self._flops * threads, bandwidth, self._sizes)


def _look() -> tuple[float, dict[str, int]]:
    """f32 operations per second of one core, by multiply-adds that stay in registers; and the sizes of its caches."""
    from aiopt.bench.peak import fma_peak  # brings mlir
    from aiopt.targets.cpu.record import host

    return fma_peak(), {"L2": host().l2_bytes, "L3": host().l3_bytes}


def _speed(size: int) -> float:
    """Bytes per second, of a copy (read and written bytes count) or of reading, whichever is faster."""
    source, target = np.ones(size // 8, np.float32), np.zeros(size // 8, np.float32)
    whole = np.ones(size // 4, np.float32)
    repeat = max(1, (1 << 20) // size)
    copied = 2 * source.nbytes / _least_seconds(lambda: np.copyto(target, source), repeat)
    return max(copied, whole.nbytes / _least_seconds(whole.max, repeat))


def _least_seconds(run: Callable[[], object], repeat: int) -> float:
    best, end, runs = float("inf"), time.perf_counter() + _COPY_SECONDS, 0
    while time.perf_counter() < end or runs < _LEAST_RUNS:
        runs += 1
        start = time.perf_counter()
        for _ in range(repeat):
            run()
        best = min(best, (time.perf_counter() - start) / repeat)
    return best


@dataclass(frozen=True)
class Row:
    """A kernel call: seconds measured and predicted, the share of the roofline (0 to 1), and what bounds it.

    flops are what the kernel's ops ask for: with Winograd's algorithm, which has fewer, their rate can be above the
    machine's; the share is that of its own roof, which `bound` names.
    """

    kernel: str
    ops: str
    seconds: float
    predicted: float
    flops: int
    bytes: int
    share: float
    bound: str

    @property
    def lost(self) -> float:
        """Seconds above the roof."""
        return self.seconds * (1 - min(self.share, 1.0))


def rows(report: Mapping[str, Any], profile: Sequence[tuple[str, float]], machine: Machine) -> Iterator[Row]:
    """The kernel calls of a profile, in order; what has no entry in the report is a node that is not compiled."""
    entries = list(report.get("kernels", []))
    net_bytes = report.get("weights_bytes", 0) + report.get("arena_bytes", 0)
    for name, seconds in profile:
        taken = _take(entries, name)
        if not taken:
            yield Row(name, "", seconds, 0.0, 0, 0, 0.0, _HOST)
            continue
        works = [Work.of(entry) for entry in taken]
        roofs = [machine.roof(work, net_bytes) for work in works]
        predicted = sum(machine.predict(work, net_bytes).seconds for work in works)
        share = sum(roof.seconds for roof in roofs) / seconds if seconds > 0 else 0.0
        moved = sum(work.activation_bytes + work.weight_bytes for work in works)
        ops = "|".join("+".join(entry.get("ops", [])) for entry in taken)
        bound = max(roofs, key=lambda roof: roof.seconds).bound
        yield Row(name, ops, seconds, predicted, sum(work.flops for work in works), moved, share, bound)


def _take(entries: list[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    """Take the first entry of each kernel of a launch out of those that are left; a region has several, `a|b`."""
    taken = []
    for kernel in name.split("|"):
        found = next((number for number, entry in enumerate(entries) if entry["kernel"] == kernel), None)
        if found is not None:
            taken.append(entries.pop(found))
    return taken


def table(found: Sequence[Row], whole: float | None = None) -> str:
    """The rows, the longest first, as text. whole: the seconds that all is, if these are not all kernels of a run."""
    total = sum(row.seconds for row in found) or 1.0
    head = (
        f"{'kernel':40s} {'us':>9s} {'predicted':>9s} {'of all':>6s} {'GFLOP/s':>8s} {'GB/s':>6s} {'roof':>5s}  bound"
    )
    lines = [head, *(_line(row, whole or total) for row in sorted(found, key=lambda row: -row.seconds))]
    best, predicted = sum(row.share * row.seconds for row in found), sum(row.predicted for row in found)
    what = "all" if whole is None else "these"
    share = f"roofline {best * 1e6:.1f} us: {100 * best / total:.0f} %"
    lines.append(f"{what:40s} {total * 1e6:9.1f} {predicted * 1e6:9.1f}  {share}")
    return "\n".join(lines)


def _line(row: Row, total: float) -> str:
    rates = (row.flops / row.seconds / 1e9, row.bytes / row.seconds / 1e9) if row.seconds else (0.0, 0.0)
    predicted = f"{row.predicted * 1e6:9.1f}" if row.bound != _HOST else " " * 9
    return (
        f"{row.kernel[:40]:40s} {row.seconds * 1e6:9.1f} {predicted} {100 * row.seconds / total:5.1f}% "
        f"{rates[0]:8.1f} {rates[1]:6.1f} {100 * row.share:4.0f}%  {row.bound}"
    )


def trace(profile: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """A run as a trace of Chrome's event format, which chrome://tracing and Perfetto read; times in microseconds."""
    events, now = [], 0.0
    for name, seconds in profile:
        events.append({"name": name, "ph": "X", "ts": now * 1e6, "dur": seconds * 1e6, "pid": 1, "tid": 1})
        now += seconds
    return {"traceEvents": events, "displayTimeUnit": "ns"}
