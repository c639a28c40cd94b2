"""How long an instruction takes, in cycles.

Streaming M rows through an array of R x C takes M + R + C - 2 cycles, and the next M rows can follow after M; weights
take R cycles to the shadow set, beside the stream, so that a fold costs max(M, R). A row is `int8_cycles` or
`f32_cycles` apart from the next. A DMA transfer takes the latency and then the bytes of all bursts it touches, divided
by the bandwidth. The vector unit takes one cycle for each `lanes` elements of a row.
"""

from __future__ import annotations

import math

from aiopt.targets.npu import isa
from aiopt.targets.npu.access import Access, accesses
from aiopt.targets.npu.encoding import Instruction
from aiopt.targets.npu.machine import Machine


def burst_bytes(access: Access, burst: int) -> int:
    """The bytes of dram that move for an access: runs (rows, or all where they touch) in whole bursts."""
    if access.stride == access.row_bytes or access.rows == 1:
        return _bursts(access.address, access.end, burst) * burst
    period = burst // math.gcd(access.stride, burst)  # after so many rows, they lie in bursts as before
    starts = [access.address + row * access.stride for row in range(min(period, access.rows))]
    counts = [_bursts(start, start + access.row_bytes, burst) for start in starts]
    whole, rest = divmod(access.rows, len(counts))
    return (whole * sum(counts) + sum(counts[:rest])) * burst


def _bursts(start: int, end: int, burst: int) -> int:
    return -(-end // burst) - start // burst


def row_cycles(element: isa.Element, machine: Machine) -> int:
    """Cycles from one row of the left operand to the next."""
    return machine.f32_cycles if element == isa.Element.F32 else machine.int8_cycles


def stream_cycles(op: isa.MatMul, machine: Machine) -> int:
    """Cycles until the array can take the next rows."""
    return op.rows * row_cycles(op.element, machine)


def duration(op: Instruction, machine: Machine) -> int:
    """Cycles from an instruction's start to its end."""
    if isinstance(op, (isa.DmaLoad, isa.DmaStore)):
        moved = burst_bytes(next(a for a in accesses(op) if a.what == "dram"), machine.dma_burst)
        return machine.dma_latency + -(-moved // machine.dma_bytes_per_cycle)
    if isinstance(op, isa.LoadWeights):
        return machine.rows
    if isinstance(op, isa.MatMul):
        return stream_cycles(op, machine) + machine.rows + machine.columns - 2
    if isinstance(op, (isa.Vec, isa.Requant)):
        return op.rows * -(-op.columns // machine.lanes)
    return 0
