"""The cost model on made-up machines and kernels."""

from __future__ import annotations

import pytest

from aiopt.support.cost import LAUNCH, Machine, Work, annotated
from aiopt.support.target import TargetRecord

MACHINE = Machine(1e9, {"L2": 4e9, "L3": 2e9, "memory": 1e9}, {"L2": 1000, "L3": 100_000})


@pytest.mark.parametrize(
    ("work", "net_bytes", "seconds", "bound"),
    [
        (Work(1_000_000, 500), 0, 1e-3, "compute"),
        (Work(1, 1000), 0, 1000 / 4e9, "L2"),
        (Work(1, 1001), 0, 1001 / 2e9, "L3"),
        (Work(1, 200_000), 0, 200_000 / 1e9, "memory"),
        (Work(1, 0, 800), 0, 800 / 4e9, "L2"),
        (Work(1, 0, 800), 50_000, 800 / 2e9, "L3"),  # weights wait there for the next run
        (Work(1, 0, 800), 500_000, 800 / 1e9, "memory"),
        (Work(1, 400, 200), 500_000, 400 / 4e9 + 200 / 1e9, "memory"),
        (Work(9_000_000, 8, 8, "winograd", 2), 0, 4e-3, "compute, F(2,3)"),
        (Work(4_000_000, 8, 8, "winograd", 4), 0, 1e-3, "compute, F(4,3)"),
    ],
)
def test_roof(work: Work, net_bytes: int, seconds: float, bound: str) -> None:
    cost = MACHINE.roof(work, net_bytes)
    assert (cost.seconds, cost.bound) == (pytest.approx(seconds), bound)


@pytest.mark.parametrize("template", ["", "conv", "matmul", "depthwise", "winograd", "new"])
@pytest.mark.parametrize("flops", [0, 10**3, 10**9])
def test_a_prediction_is_above_the_roof(template: str, flops: int) -> None:
    work = Work(flops, 2000, 3000, template, 4 if template == "winograd" else 0)
    assert MACHINE.predict(work).seconds > MACHINE.roof(work).seconds


def test_what_has_nothing_to_do_is_a_launch() -> None:
    assert MACHINE.predict(Work(0, 0)).seconds == LAUNCH


def test_a_record_without_a_third_cache() -> None:
    record = TargetRecord("x", "t", "c", (), 256, 1, 32 << 10, 1 << 20, 0)
    machine = Machine.nominal(record, 1e9)
    assert machine.flops == 2 * 2 * 8 * 1e9
    assert [machine.level(size) for size in (1 << 20, (1 << 20) + 1)] == ["L2", "memory"]


def test_a_report() -> None:
    entry = {"kernel": "k", "flops": 10**6, "weight_bytes": 200, "activation_bytes": 100, "scratch_bytes": 50}
    made = annotated({"kernels": [entry, entry], "weights_bytes": 400, "arena_bytes": 100}, MACHINE)
    first, second = made["kernels"]
    assert first == second
    assert (first["footprint_bytes"], first["bound"]) == (350, "compute")
    assert made["predicted_seconds"] == pytest.approx(2 * first["predicted_seconds"])
    assert "bound" not in entry


def test_an_entry_of_another_target_has_its_bytes() -> None:
    assert Work.of({"kernel": "k", "flops": 7, "bytes": 5}) == Work(7, 5)
