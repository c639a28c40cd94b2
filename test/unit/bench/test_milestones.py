"""The milestones of the suite on made-up records."""

from __future__ import annotations

import math
from typing import Any

import pytest

from aiopt.support.cost import Machine
from bench import milestones

MACHINE = Machine(1e9, {"L2": 1e9, "L3": 1e9, "memory": 1e9}, {"L2": 1 << 20, "L3": 1 << 25})
MET = {"memory": 50e6, "difference": 1e-6}


def engine(seconds: float, memory: float = 100e6, **more: float) -> dict[str, Any]:
    kinds = dict.fromkeys(milestones.STATISTICS, seconds)
    return {**kinds, "cpu_median": 10 * seconds, "peak_bytes": memory, **more}


def model(name: str, *times: tuple[float, float, float], **ours: float) -> dict[str, Any]:
    """A model with (ours, ONNX Runtime's, OpenVINO's) seconds on 1, 2, ... threads."""
    kernels = [{"kernel": "slow", "ops": [], "flops": 1000, "bytes": 8}, {"kernel": "good", "flops": 1000, "bytes": 8}]
    entries = []
    for threads, (aiopt, ort, openvino) in enumerate(times, start=1):
        engines = {
            "aiopt": engine(aiopt, ours.get("memory", 50e6), difference=ours.get("difference", 1e-6)),
            "onnxruntime": engine(ort),
            "openvino": engine(openvino),
        }
        profile = [["slow", 5e-6], ["good", 1e-6]]
        entries.append({"threads": threads, "engines": engines, "report": {"kernels": kernels}, "profile": profile})
    return {"model": name, "measurements": entries}


def figures(models: list[dict[str, Any]], threads: int = 1) -> dict[str, bool]:
    """What is met, by the figures' names without the number of threads."""
    found = milestones.milestones(models, threads, "median")
    return {one.figure.name.partition(", ")[2]: one.figure.met for one in found}


def test_all_met() -> None:
    assert all(figures([model("a", (0.8, 1, 1.2)), model("b", (0.9, 1.3, 1.1))]).values())


def test_means_are_geometric() -> None:
    models = [model("a", (0.5, 1, 9)), model("b", (2, 1, 9))]
    found = figures(models)
    assert found["mean of 2 models, time / ONNX Runtime's"]
    assert not found["worst model, time / the better peer's (b)"]
    assert not figures([model("a", (0.5, 1, 9)), model("b", (2.01, 1, 9))])["mean of 2 models, time / ONNX Runtime's"]


def test_the_better_peer_is_another_for_each_model() -> None:
    models = [model("a", (1.0, 1.0, 0.9)), model("b", (1.0, 0.9, 1.0))]
    assert milestones.ratio(models[0]["measurements"][0], "median") == pytest.approx(1 / 0.9)
    assert milestones.ratio(models[1]["measurements"][0], "median") == pytest.approx(1 / 0.9)
    assert milestones.ratio(models[0]["measurements"][0], "median", ["onnxruntime"]) == 1.0


def test_a_peer_that_failed_is_left_out() -> None:
    one = model("a", (1.0, 2.0, 0.5))
    one["measurements"][0]["engines"]["openvino"] = {"error": "cannot load"}
    assert milestones.ratio(one["measurements"][0], "median") == 0.5
    assert all(figures([one]).values())


@pytest.mark.parametrize(("ours", "name"), [({"memory": 101e6}, "peak memory"), ({"difference": 2e-4}, "difference")])
def test_memory_and_difference(ours: dict[str, float], name: str) -> None:
    missed = [
        figure for figure, met in figures([model("a", (0.5, 1, 1)), model("b", (0.5, 1, 1), **ours)]).items() if not met
    ]
    assert len(missed) == 1
    assert name in missed[0]
    assert missed[0].endswith("(b)")


def test_a_difference_that_is_not_known_is_missed() -> None:
    assert not all(figures([model("a", (0.5, 1, 1), difference=math.nan)]).values())


def test_scaling_is_held_against_the_peer_that_is_fastest_on_both() -> None:
    one = model("a", (1.0, 1.0, 1.0), (0.6, 0.5, 0.55))
    assert milestones.scaling(one, 2, "median") == pytest.approx((1 / 0.6) / 2)
    assert not figures([one], 2)["worst model, speed-up / the better peer's (a)"]
    assert figures([model("a", (1.0, 1.0, 1.0), (0.52, 0.5, 0.55))], 2)["worst model, speed-up / the better peer's (a)"]
    assert math.isnan(milestones.scaling(one, 1, "median"))


def test_cpu_time_is_compared_on_one_thread_only() -> None:
    assert milestones.statistic(1, "cpu_least") == "cpu_least"
    assert milestones.statistic(2, "cpu_least") == "least"


def test_what_is_missed_shows_the_kernels_that_lose_most() -> None:
    models = [model("fast", (0.5, 1, 1)), model("slow", (2.0, 1, 1))]
    found = list(milestones.milestones(models, 1, "median"))
    lines = "\n".join(milestones.report(found, models, 1, MACHINE))
    assert "MISSED" in lines
    assert "what holds back slow on 1 threads" in lines
    assert "what holds back fast" not in lines
    table = lines.partition("what holds back slow")[2]
    assert table.index("slow ") < table.index("good ")
    assert " 20%" in table


def test_what_is_met_shows_none() -> None:
    models = [model("fast", (0.5, 1, 1))]
    found = list(milestones.milestones(models, 1, "median"))
    assert "holds back" not in "\n".join(milestones.report(found, models, 1, MACHINE))


def test_lines() -> None:
    one = model("a", (0.010, 0.020, 0.015), (0.006, 0.010, 0.009))
    first, second = (milestones.line(one, entry, "median") for entry in one["measurements"])
    assert first.split() == ["a", "1", "10.000", "20.000", "15.000", "0.50", "0.67", "50", "100", "1.0e-06"]
    assert second.split()[:8] == ["a", "2", "6.000", "10.000", "9.000", "0.60", "0.67", "1.00"]
