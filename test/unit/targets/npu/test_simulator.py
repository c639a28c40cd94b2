"""What programs compute, how long they take, what is found in them."""

from __future__ import annotations

import numpy as np
import pytest

from aiopt.support.errors import InputError
from aiopt.targets.npu.access import Access, Memory
from aiopt.targets.npu.asm import parse_program
from aiopt.targets.npu.encoding import Queue
from aiopt.targets.npu.machine import find_machine
from aiopt.targets.npu.program import ProgramError
from aiopt.targets.npu.simulator import Result, simulate
from aiopt.targets.npu.timing import burst_bytes
from unit.targets.npu.programs import SMALL, program, replaced

EDGE = find_machine("edge16")
RANDOM = np.random.default_rng(0)
X = RANDOM.integers(-128, 128, (32, 16), np.int8)
W = RANDOM.integers(-128, 128, (16, 16), np.int8)


def _run_small(*changes: tuple[str, str]) -> Result:
    return simulate(parse_program(replaced(SMALL, *changes), "small.s"), EDGE, {"x": X, "w": W})


def _run(body: str, head: str = "", **inputs: np.ndarray) -> Result:
    return simulate(program(body, ".machine edge16\n.dram 65536\n" + head), EDGE, inputs)


def test_a_small_program_computes_what_it_says() -> None:
    result = _run_small()
    sums = X.astype(np.int32) @ W.astype(np.int32)
    expected = np.clip(np.rint(sums.astype(np.float32) * np.float32(0.01)) + 3, -128, 127).astype(np.int8)
    assert np.array_equal(result.outputs["y"], expected)
    assert result.races == []


def test_cycles_are_those_of_the_law() -> None:
    result = _run_small()
    assert result.busy == {
        Queue.LOAD: (100 + 256 // 16) + (100 + 512 // 16),
        Queue.MATRIX: 16 + (32 + 16 + 16 - 2),
        Queue.VECTOR: 32,
        Queue.STORE: 100 + 512 // 16,
    }
    # Three semaphores, the front end's next cycle, then one after the other; loadw hides behind the second load.
    assert result.cycles == 4 + 248 + 62 + 32 + 132
    assert result.macs == 32 * 16 * 16
    assert result.utilisation == result.macs / (256 * result.cycles)
    assert (result.loaded_bytes, result.stored_bytes) == (768, 512)


@pytest.mark.parametrize(("rows", "fold"), [(4, 16), (16, 16), (64, 64)])
def test_a_fold_costs_what_is_longer_of_rows_and_weights(rows: int, fold: int) -> None:
    def cycles(folds: int) -> int:
        pair = "loadw rows=16 columns=16 stride=16\n"
        pair += f"matmul rows={rows} inner=16 columns=16 acc_stride=64 stride=16 swap\n"
        return _run(pair * folds + "halt").cycles

    assert cycles(1) == 1 + 16 + rows + 30
    assert cycles(9) - cycles(1) == 8 * fold


def test_f32_takes_its_own_rate() -> None:
    def cycles(rows: int) -> int:
        body = "loadw rows=4 columns=4 element=f32\n"
        body += f"matmul rows={rows} inner=4 columns=4 acc_stride=64 element=f32 swap\n"
        return _run(body + "halt").cycles

    assert cycles(20) - cycles(10) == 10 * EDGE.f32_cycles


@pytest.mark.parametrize(
    ("address", "rows", "row_bytes", "stride", "expected"),
    [
        (0, 1, 1, 0, 64),
        (63, 1, 2, 0, 128),
        (0, 4, 16, 16, 64),  # rows that touch are one run
        (0, 4, 16, 17, 3 * 64 + 128),
        (60, 1, 64, 64, 128),
        (0, 5, 33, 96, (64 + 128 + 64 + 128 + 64)),
    ],
)
def test_runs_are_rounded_to_bursts(address: int, rows: int, row_bytes: int, stride: int, expected: int) -> None:
    access = Access("dram", Memory.DRAM, False, address, rows, row_bytes, stride)
    touched = [{b // 64 for b in range(address + r * stride, address + r * stride + row_bytes)} for r in range(rows)]
    whole = {b // 64 for b in range(address, access.end)}
    assert burst_bytes(access, 64) == expected
    assert expected == 64 * (len(whole) if stride == row_bytes else sum(map(len, touched)))


def test_f32_is_summed_in_the_stated_order() -> None:
    left = RANDOM.standard_normal((8, 32)).astype(np.float32)
    weights = RANDOM.standard_normal((32, 12)).astype(np.float32)
    head = ".input w 0x0 32x12xf32\n.input x 0x1000 8x32xf32\n.output y 0x2000 8x12xf32\n"
    body = "sem_init semaphore=0 signaller=load waiter=matrix\nsem_init semaphore=1 signaller=matrix waiter=vector\n"
    body += "sem_init semaphore=2 signaller=vector waiter=store\n"
    body += "dma_ld dram=0x0 rows=32 row_bytes=48 dram_stride=48 spad_stride=48\n"
    body += "dma_ld dram=0x1000 spad=0x1000 rows=8 row_bytes=128 dram_stride=128 spad_stride=128 signals=s0\n"
    for fold, more in ((0, "waits=s0"), (1, "")):
        body += f"loadw spad={fold * 768} stride=48 rows=16 columns=12 element=f32 {more}\n"
        body += f"matmul spad={0x1000 + fold * 64} stride=128 acc_stride=48 rows=8 inner=16 columns=12 element=f32 "
        body += "swap accumulate signals=s1\n" if fold else "swap\n"
    body += "vec out=0x2000 out_stride=48 left_stride=48 left_space=acc rows=8 columns=12 element=f32 op=max constant "
    body += "immediate=-0.5 waits=s1 signals=s2\n"
    body += "dma_st dram=0x2000 spad=0x2000 rows=8 row_bytes=48 dram_stride=48 spad_stride=48 waits=s2\nhalt"
    folds = []
    for start in (0, 16):
        sums = left[:, start : start + 1] * weights[start]
        for k in range(start + 1, start + 16):
            sums = sums + left[:, k : k + 1] * weights[k]
        folds.append(sums)
    result = _run(body, head, w=weights, x=left)
    assert result.races == []
    assert np.array_equal(result.outputs["y"], np.maximum(folds[0] + folds[1], np.float32(-0.5)))


def test_requant_takes_bias_scales_and_relu() -> None:
    sums = RANDOM.integers(-(2**20), 2**20, (4, 8)).astype(np.int32)
    bias = RANDOM.integers(-1000, 1000, 8).astype(np.int32)
    scales = RANDOM.uniform(1e-4, 3e-4, 8).astype(np.float32)
    head = ".input sums 0x0 4x8xi32\n.input bias 0x100 8xi32\n.input scales 0x200 8xf32\n.output y 0x300 4x8xui8\n"
    body = "dma_ld dram=0x0 rows=12 row_bytes=64 dram_stride=64 spad_stride=64\nfence\n"
    body += "vec left=0x0 left_stride=32 out_space=acc out_stride=32 rows=4 columns=8 element=i32\n"
    body += "requant acc_stride=32 out=0x300 out_stride=8 bias=0x100 scales=0x200 rows=4 columns=8 zero_point=100 "
    body += "element=u8 has_bias per_column relu\nfence\n"
    body += "dma_st dram=0x300 spad=0x300 rows=4 row_bytes=8 dram_stride=8 spad_stride=8\nhalt"
    result = _run(body, head, sums=sums, bias=bias, scales=scales)
    expected = np.clip(np.rint((sums + bias).astype(np.float32) * scales) + 100, 100, 255).astype(np.uint8)
    assert np.array_equal(result.outputs["y"], expected)
    assert result.races == []


def test_a_load_puts_a_border_around() -> None:
    x = np.arange(6, dtype=np.uint8).reshape(2, 3)
    body = "dma_ld rows=2 row_bytes=3 dram_stride=3 spad_stride=8 top=1 bottom=2 left=2 right=1 fill=7\nfence\n"
    body += "dma_st dram=0x100 rows=5 row_bytes=6 dram_stride=6 spad_stride=8\nhalt"
    result = _run(body, ".input x 0x0 2x3xui8\n.output y 0x100 5x6xui8\n", x=x)
    assert np.array_equal(result.outputs["y"], np.pad(x, ((1, 2), (2, 1)), constant_values=7))


@pytest.mark.parametrize(
    ("op", "function"),
    [("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("max", np.maximum), ("min", np.minimum)],
)
def test_vec_computes_like_numpy(op: str, function: np.ufunc) -> None:
    a = RANDOM.integers(-(2**31), 2**31, (3, 5)).astype(np.int32)
    row = RANDOM.integers(-(2**31), 2**31, 5).astype(np.int32)
    body = "dma_ld dram=0x0 rows=1 row_bytes=80\nfence\n"
    body += f"vec out=0x100 out_stride=20 left_stride=20 right=60 rows=3 columns=5 element=i32 op={op}\nfence\n"
    body += "dma_st dram=0x100 spad=0x100 rows=1 row_bytes=60\nhalt"
    result = _run(body, ".input a 0x0 3x5xi32\n.input row 0x3c 5xi32\n.output y 0x100 3x5xi32\n", a=a, row=row)
    assert np.array_equal(result.outputs["y"], function(a, row))


@pytest.mark.parametrize(
    ("changes", "race"),
    [
        (
            [(" waits=s2", ""), (" signals=s2", "")],
            "race: instruction 7 writes and instruction 8 reads spad 0x400, and nothing orders them",
        ),
        (
            [(" waits=s1", ""), ("swap waits=s0 signals=s1", "swap waits=s0")],
            "instruction 6 writes and instruction 7 reads acc 0x0",
        ),
        (
            [("columns=16 waits=s0", "columns=16"), ("swap waits=s0", "swap waits=s0:2")],
            "instruction 3 writes and instruction 5 reads spad 0x0",
        ),
    ],
)
def test_a_race_is_found(changes: list[tuple[str, str]], race: str) -> None:
    assert any(race in str(found) for found in _run_small(*changes).races)


def test_order_is_transitive() -> None:
    """The load of x is known to the store through matrix and vector."""
    result = _run_small(("out=0x400", "out=0x100"), ("dram=0x400 spad=0x400", "dram=0x400 spad=0x100"))
    assert result.races == []


def test_a_race_is_found_though_it_does_not_show() -> None:
    """The last load begins long after the matmul has read, and still nothing says so."""
    late = "dma_ld dram=0x0 spad=0x100 rows=32 row_bytes=16 dram_stride=16 spad_stride=16\n"
    result = _run_small(("halt", "nop on=load\n" * 500 + late + "halt"))
    assert [(race.first, race.second, race.second_writes) for race in result.races] == [(6, 509, True)]


def test_a_fence_orders_all() -> None:
    late = "dma_ld dram=0x0 spad=0x100 rows=32 row_bytes=16 dram_stride=16 spad_stride=16\n"
    assert _run_small(("halt", "fence\n" + late + "halt")).races == []


def test_a_count_waits_for_the_signal_it_needs() -> None:
    body = "sem_init semaphore=0 signaller=load waiter=store value=1\n"
    body += "dma_ld rows=1 row_bytes=4 signals=s0\ndma_ld spad=0x40 rows=1 row_bytes=4 signals=s0\n"
    body += "dma_st dram=0x100 rows=1 row_bytes=4 waits=s0{}\n"
    body += "dma_st dram=0x140 spad=0x40 rows=1 row_bytes=4{}\nhalt"
    one_ahead = _run(body.format("", " waits=s0"))  # each finds what the value or the signal before it left
    assert [(race.first, race.second) for race in one_ahead.races] == [(1, 3), (2, 4)]
    two_at_once = _run(body.format(":2", ""))
    assert [(race.first, race.second) for race in two_at_once.races] == [(2, 4)]


def test_a_deadlock_is_an_error() -> None:
    body = "sem_init semaphore=0 signaller=load waiter=store\nsem_init semaphore=1 signaller=store waiter=load\n"
    body += "dma_ld rows=1 row_bytes=4 waits=s1 signals=s0\ndma_st rows=1 row_bytes=4 waits=s0 signals=s1\nhalt"
    with pytest.raises(ProgramError) as raised:
        _run(body)
    assert str(raised.value) == (
        "deadlock: load is at instruction 2 (dma_ld), which needs 1 of s1, but it holds 0; "
        "store is at instruction 3 (dma_st), which needs 1 of s0, but it holds 0"
    )


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": X}, "input 'w' is missing"),
        ({"x": X, "w": W, "z": W}, "the program has no input 'z'"),
        ({"x": W, "w": W}, "input 'x' must be 32x16xi8, but is int8"),
        ({"x": X.astype(np.int16), "w": W}, "input 'x' must be 32x16xi8, but is int16"),
    ],
)
def test_inputs_must_fit(inputs: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulate(parse_program(SMALL, "small.s"), EDGE, inputs)


def test_a_broken_program_does_not_run() -> None:
    with pytest.raises(ProgramError, match=r"instruction 7 \(requant\): zero_point must be .* \(and 1 more\)"):
        _run_small((" waits=s2", ""), ("zero_point=3", "zero_point=500"))
