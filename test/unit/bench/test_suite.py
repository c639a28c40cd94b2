"""The suite on made-up measurements: what it prints, its exit status, and its records, which can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from aiopt.bench import record
from aiopt.support.cost import Machine
from bench import milestones, suite


class _Gauge:
    def measure(self) -> None: ...

    def machine(self, threads: int) -> Machine:
        return Machine(1e9 * threads, {"L2": 1e9, "L3": 1e9, "memory": 1e9}, {"L2": 1 << 20, "L3": 1 << 25})


def _engine(seconds: float) -> dict[str, Any]:
    return {**dict.fromkeys(milestones.STATISTICS, seconds), "peak_bytes": 1e8 * seconds, "difference": 1e-6}


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Our seconds, beside peers that take 1, in every measurement."""
    times = {"seconds": 0.5}

    def measure(name: str, threads: Sequence[int], seconds: float) -> Iterator[dict[str, Any]]:
        for number in threads:
            engines = {"aiopt": _engine(times["seconds"]), "onnxruntime": _engine(1.0), "openvino": _engine(1.0)}
            engines["onnxruntime"]["ratio"] = times["seconds"]
            kernels = {"kernels": [{"kernel": "k", "ops": [], "flops": 1, "bytes": 1}]}
            yield {"threads": number, "engines": engines, "report": kernels, "profile": [["k", 1.0]]}

    monkeypatch.setattr(suite, "_measure", measure)
    monkeypatch.setattr(suite, "Gauge", _Gauge)
    return times


def test_two_records_can_be_compared(
    ours: dict[str, float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = tmp_path / "a.json", tmp_path / "b.json"
    assert suite.main(["--models", "resnet50,nudenet", "--threads", "1,2", "--json", str(before)]) == 0
    assert "MISSED" not in capsys.readouterr().out
    ours["seconds"] = 0.9
    assert suite.main(["--models", "resnet50,nudenet", "--threads", "1,2", "--json", str(after)]) == 1
    shown = capsys.readouterr().out
    assert "mean of 2 models, time / the better peer's: 0.9 (asked: <= 0.85) MISSED" in shown
    assert "what holds back nudenet on 2 threads:" in shown
    lines = list(record.compare(record.read(before), record.read(after)))
    assert sum("SLOWER, 500.000 -> 900.000 ms (1.80x), of onnxruntime 0.50 -> 0.90" in line for line in lines) == 4
    assert lines[-1] == "all 4: 0 faster, 0 as fast, 4 SLOWER; mean 1.800x"


@pytest.mark.parametrize("arguments", [["--models", "resnet51"], ["--threads", "0"], ["--by", "mean"]])
def test_what_is_no_choice(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        suite.main(arguments)
    assert arguments[1] in capsys.readouterr().err
