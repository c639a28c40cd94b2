"""Programs for tests."""

from __future__ import annotations

from aiopt.targets.npu.asm import parse_program
from aiopt.targets.npu.machine import parse_machine
from aiopt.targets.npu.program import Program

# y = requant(x * w): all four queues, once.
SMALL = """
.machine edge16
.dram 4096
.input w 0x800 16x16xi8
.input x 0x0 32x16xi8
.output y 0x400 32x16xi8
sem_init semaphore=0 signaller=load waiter=matrix
sem_init semaphore=1 signaller=matrix waiter=vector
sem_init semaphore=2 signaller=vector waiter=store
dma_ld dram=0x800 rows=16 row_bytes=16 dram_stride=16 spad_stride=16 signals=s0
dma_ld dram=0x0 spad=0x100 rows=32 row_bytes=16 dram_stride=16 spad_stride=16 signals=s0
loadw spad=0x0 stride=16 rows=16 columns=16 waits=s0
matmul spad=0x100 stride=16 acc=0x0 acc_stride=64 rows=32 inner=16 columns=16 swap waits=s0 signals=s1
requant acc_stride=64 out=0x400 out_stride=16 rows=32 columns=16 scale=0.01 zero_point=3 waits=s1 signals=s2
dma_st dram=0x400 spad=0x400 rows=32 row_bytes=16 dram_stride=16 spad_stride=16 waits=s2
halt
"""


def program(body: str, head: str = ".machine edge16\n.dram 65536\n") -> Program:
    """A program from its instructions."""
    return parse_program(head + body, "test.s")


def replaced(text: str, *changes: tuple[str, str]) -> str:
    """The text with each change made, which must be possible once."""
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


# So small that a product of a few rows goes through its buffers many times.
TINY = parse_machine(
    """
name = "tiny"
mhz = 100
array = {rows = 4, columns = 4, int8_cycles = 1, f32_cycles = 2}
memory = {spad_kib = 1, acc_kib = 1}
dma = {bytes_per_cycle = 4, latency = 10, burst = 8}
vector = {lanes = 4}
""",
    "tiny.toml",
)
