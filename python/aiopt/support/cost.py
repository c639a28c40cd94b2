"""The cost model: what a kernel takes on a machine, by its arithmetic and the memory it goes through (numbers only).

Templates, mixed precision, reports of nets and the roofline of aiopt-bench all draw on these numbers.
Source: Williams, Waterman and Patterson, Roofline, CACM 2009.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiopt.support.target import TargetRecord

# A core of the last ten years, in each cycle: multiply-adds of whole vectors, and bytes that come from and go to where
# they are. Seen on a Zen 4: 110 GB/s, 75 and 25 at 3.7 GHz, and 117 GFLOP/s.
MULTIPLY_ADDS = 2
BYTES_PER_CYCLE = {"L2": 30.0, "L3": 20.0, "memory": 7.0}
CLOCK = 3e9  # cycles per second that reports assume: a record does not say how fast a CPU is clocked
# f32 operations for each byte of memory at which a core is as long at the one as at the other: 117 GFLOP/s and 25 GB/s
# on a Zen 4, and alike on all cores of a server.
RIDGE = 5.0
LAUNCH = 0.4e-6  # seconds of a call of a kernel
_TAPS = 3  # of the convolutions that Winograd's algorithm computes
WINOGRAD = "winograd"

# The part of a bound that kernels reach, by how their loops are made: fitted to kernels of the eleven models of
# test/bench/suite.py. Winograd's is of its products alone, the transforms being the rest.
_ARITHMETIC = {"conv": 0.9, "matmul": 0.95, "depthwise": 0.78, WINOGRAD: 0.62}
_OTHER_TEMPLATES, _STRUCTURED = 0.6, 0.19
_TRAFFIC = 0.7


@dataclass(frozen=True)
class Work:
    """What one run of a kernel asks for: f32 operations (a multiply-add is two), bytes of activations (read and
    written once) and of weights. template: the name of what made its loops, "" if it is none. tile: the size of
    Winograd's tiles, 0 where the operations are computed as they stand."""

    flops: int
    activation_bytes: int
    weight_bytes: int = 0
    template: str = ""
    tile: int = 0

    @staticmethod
    def of(entry: Mapping[str, Any]) -> Work:
        """That of an entry of `net.report()["kernels"]`."""
        template = entry.get("template", {})
        name, weights = template.get("name", ""), entry.get("weight_bytes", 0)
        activations = entry.get("activation_bytes", entry.get("bytes", 0))
        return Work(entry.get("flops", 0), activations, weights, name, template["size"] if name == WINOGRAD else 0)

    @property
    def executed(self) -> float:
        """The operations that are left of them with Winograd's algorithm, without its transforms."""
        if not self.tile:
            return self.flops
        return self.flops * (self.tile + _TAPS - 1) ** 2 / (self.tile * _TAPS) ** 2


@dataclass(frozen=True)
class Cost:
    """seconds, and what they are bound by: compute, or the level of memory that most bytes come from."""

    seconds: float
    bound: str


@dataclass(frozen=True)
class Machine:
    """flops: f32 operations per second. bandwidth: bytes per second, and sizes: bytes, of caches by level; `memory` has
    no size, and a level that is not there has size 0."""

    flops: float
    bandwidth: Mapping[str, float]
    sizes: Mapping[str, int]

    @staticmethod
    def nominal(record: TargetRecord, clock: float = CLOCK) -> Machine:
        """One core of a record's machine at so many cycles per second."""
        bandwidth = {level: each * clock for level, each in BYTES_PER_CYCLE.items()}
        sizes = {"L2": record.l2_bytes, "L3": record.l3_bytes}
        return Machine(2 * MULTIPLY_ADDS * (record.vector_bits // 32) * clock, bandwidth, sizes)

    def level(self, nbytes: float) -> str:
        """The smallest that holds so many bytes."""
        return next((level for level in ("L2", "L3") if nbytes <= self.sizes[level]), "memory")

    def roof(self, work: Work, net_bytes: int = 0) -> Cost:
        """The least seconds.

        What a kernel reads was written just before, and lies where all it works on fits. Its weights were last read in
        the run before: they lie where the whole net fits, with net_bytes of weights and buffers.
        """
        compute = work.executed / self.flops
        memory, level = self._traffic(work, net_bytes)
        if compute >= memory:
            return Cost(compute, f"compute, F({work.tile},{_TAPS})" if work.tile else "compute")
        return Cost(memory, level)

    def predict(self, work: Work, net_bytes: int = 0) -> Cost:
        """The seconds it is likely to take."""
        compute = work.executed / self.flops / _efficiency(work)
        memory, level = self._traffic(work, net_bytes)
        memory /= _TRAFFIC
        bound = "compute" if compute >= memory else level
        return Cost(max(compute, memory) + LAUNCH, bound)

    def _traffic(self, work: Work, net_bytes: int) -> tuple[float, str]:
        """Seconds of all bytes, and the level that takes most of them."""
        footprint = work.activation_bytes + work.weight_bytes
        near, far = self.level(footprint), self.level(max(net_bytes, footprint))
        activations = work.activation_bytes / self.bandwidth[near]
        weights = work.weight_bytes / self.bandwidth[far]
        return activations + weights, near if activations >= weights else far


def _efficiency(work: Work) -> float:
    if not work.template:
        return _STRUCTURED
    return _ARITHMETIC.get(work.template, _OTHER_TEMPLATES)


def annotated(report: Mapping[str, Any], machine: Machine) -> dict[str, Any]:
    """The report of a net with `footprint_bytes`, `predicted_seconds` and `bound` of each kernel, on one core."""
    net_bytes = report.get("weights_bytes", 0) + report.get("arena_bytes", 0)
    kernels = [{**entry, **_estimate(entry, machine, net_bytes)} for entry in report["kernels"]]
    return {**report, "kernels": kernels, "predicted_seconds": sum(entry["predicted_seconds"] for entry in kernels)}


def _estimate(entry: Mapping[str, Any], machine: Machine, net_bytes: int) -> dict[str, Any]:
    work = Work.of(entry)
    cost = machine.predict(work, net_bytes)
    footprint = work.activation_bytes + work.weight_bytes + entry.get("scratch_bytes", 0)
    return {"footprint_bytes": footprint, "predicted_seconds": cost.seconds, "bound": cost.bound}
