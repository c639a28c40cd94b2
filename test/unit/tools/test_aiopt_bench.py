"""aiopt-bench: measurements of a small model, records, comparisons, traces."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from aiopt.bench import record, roofline
from aiopt.support.cost import Machine
from aiopt.support.errors import CompileError, InputError


def aiopt_bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: it forks, which a process with MLIR in it must not do."""
    command = [sys.executable, "-c", "import sys; from aiopt.tools.aiopt_bench import main; sys.exit(main())"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    weight = numpy_helper.from_array(np.random.default_rng(0).standard_normal((16, 8), np.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 16])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [weight])
    path = tmp_path / "mlp.onnx"
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(proto.SerializeToString())
    return path


def test_a_measurement_and_its_record(model: Path, tmp_path: Path) -> None:
    made, traced = tmp_path / "a.json", tmp_path / "t.json"
    arguments = [str(model), "--shape", "x=4x16", "--vs", "onnxruntime", "--seconds", "0.05", "--kernels"]
    done = aiopt_bench(*arguments, "--json", str(made), "--trace", str(traced))
    assert done.returncode == 0, done.stderr
    assert "matmul_relu_0" in done.stdout
    assert "aiopt / onnxruntime" in done.stdout
    (entry,) = record.read(made)["models"][0]["measurements"]
    ours, theirs = entry["engines"]["aiopt"], entry["engines"]["onnxruntime"]
    assert ours["difference"] < 1e-5
    assert theirs["difference"] < 1e-5
    assert theirs["ratio"] == pytest.approx(ours["median"] / theirs["median"])
    assert 0 < ours["least"] <= ours["median"]
    assert ours["peak_bytes"] > 1 << 20
    (event,) = json.loads(traced.read_text())["traceEvents"]
    assert event["name"] == "matmul_relu_0"
    assert event["dur"] == pytest.approx(entry["profile"][0][1] * 1e6)


def test_the_process_that_is_measured_has_no_compiler_in_it(model: Path) -> None:
    from aiopt.bench.engines import Job
    from aiopt.bench.worker import Worker

    worker = Worker("aiopt", Job(model, {"x": (4, 16)}), {"x": np.ones((4, 16), np.float32)}, {0})
    try:
        assert worker.peak_bytes() < 90e6  # mlir and onnx take more than 150 MB
        assert list(worker.outputs()) == ["y"]
    finally:
        worker.close()


_ASKER = """
import sys, time
from pathlib import Path
import numpy as np
from aiopt.bench.engines import Job
from aiopt.bench.worker import Worker
worker = Worker("aiopt", Job(Path(sys.argv[1]), {"x": (4, 16)}, 2), {"x": np.ones((4, 16), np.float32)}, {0})
print(len(worker.seconds(3)), worker._process.pid, flush=True)
time.sleep(300)
"""


def _states(pid: int) -> set[str]:
    """Of its threads: R running, S asleep, T stopped ...; empty if there is no such process."""
    try:
        return {
            (task / "stat").read_text().rpartition(")")[2].split()[0] for task in Path(f"/proc/{pid}/task").iterdir()
        }
    except FileNotFoundError:
        return set()


def test_who_is_not_at_turn_stands_still_but_does_not_outlive_the_asker(model: Path) -> None:
    command = [sys.executable, "-c", _ASKER, str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as asker:
        assert asker.stdout is not None
        runs, pid = map(int, asker.stdout.readline().split())
        assert runs == 3
        assert _states(pid) == {"T"}
        asker.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30
    while _states(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _states(pid) <= {"Z"}  # nobody may be there to take note of its end


def test_an_engine_whose_process_ends(model: Path) -> None:
    from aiopt.bench.engines import Job
    from aiopt.bench.worker import Worker

    worker = Worker("aiopt", Job(model, {"x": (4, 16)}), {"x": np.ones((4, 16), np.float32)}, {0})
    os.kill(worker._process.pid, signal.SIGKILL)
    with pytest.raises(CompileError, match="the process of aiopt ended with status -9"):
        worker.seconds(1)
    worker.close()


def _record(milliseconds: float, **engines: float) -> dict:
    ours = {"median": milliseconds / 1e3, "peak_bytes": 5e7, "difference": 1e-6}
    peers = {name: {"median": 1e-3, "ratio": ratio} for name, ratio in engines.items()}
    entry = {"threads": 1, "engines": {"aiopt": ours, **peers}}
    return {"format": 1, "machine": {"cpu": "c"}, "models": [{"model": "m", "measurements": [entry]}]}


@pytest.mark.parametrize(("after", "word"), [(1.0, "faster"), (2.02, "as fast"), (4.0, "SLOWER")])
def test_comparison_of_records(after: float, word: str) -> None:
    (line,) = record.compare(_record(2.0, onnxruntime=2.0), _record(after, onnxruntime=after))
    assert line.startswith(f"m, 1 threads: {word}, 2.000 -> {after:.3f} ms")
    assert f"of onnxruntime 2.00 -> {after:.2f}" in line


def test_a_comparison_of_commits_sums_up() -> None:
    before, after = _record(2.0), _record(1.0)
    before["models"] += [{**_record(4.0)["models"][0], "model": "n"}]
    after["models"] += [{**_record(8.0)["models"][0], "model": "n"}]
    before["commit"], after["commit"] = "0123456789abcdef", ""
    first, *_, last = record.compare(before, after)
    assert first == "from 0123456789ab to no commit"
    assert last == "all 2: 1 faster, 0 as fast, 1 SLOWER; mean 1.000x"


def test_variants_are_cases_of_their_own() -> None:
    before, after = _record(2.0), _record(1.0)
    after["models"][0]["measurements"][0]["winograd"] = "off"
    lines = list(record.compare(before, after))
    assert lines[0] == "m, 1 threads, winograd off: only in the second record"


def test_a_model_that_is_in_one_record_only() -> None:
    before, after = _record(1.0), _record(1.0)
    after["models"][0]["model"] = "other"
    lines = list(record.compare(before, after))
    assert lines == ["other, 1 threads: only in the second record", "m, 1 threads: only in the first record"]


def test_the_roofline() -> None:
    machine = Machine(1e9, {"L2": 4e9, "L3": 2e9, "memory": 1e9}, {"L2": 100_000, "L3": 1_000_000})
    report = {"kernels": [{"kernel": "k", "ops": ["ai.relu"], "flops": 500, "bytes": 4000}]}
    first, second = roofline.rows(report, [("k", 4e-6), ("Unique u", 1e-3)], machine)
    assert first.share == pytest.approx(0.25)
    assert (first.bound, second.bound) == ("L2", "host")
    assert first.predicted > 1e-6
    assert first.lost == pytest.approx(3e-6)
    assert "25 %" not in roofline.table([second])


def test_what_winograd_saves_is_in_its_own_roof() -> None:
    machine = Machine(1e9, {"L2": 1e12, "L3": 1e12, "memory": 1e12}, {"L2": 1 << 20, "L3": 1 << 25})
    template = {"name": "winograd", "size": 4}
    report = {"kernels": [{"kernel": "k", "ops": ["ai.conv"], "flops": 4000, "bytes": 8, "template": template}]}
    (row,) = roofline.rows(report, [("k", 2e-6)], machine)
    assert row.share == pytest.approx(0.5)  # a quarter of the products
    assert row.bound == "compute, F(4,3)"
    assert "2.0 " in roofline.table([row])  # GFLOP/s of the ops, above the machine's 1


def test_of_equal_kernels_each_call_has_its_own_entry() -> None:
    machine = Machine(1e9, {"L2": 1e9, "L3": 1e9, "memory": 1e8}, {"L2": 1 << 20, "L3": 1 << 25})
    kernel = {"kernel": "k", "ops": ["ai.matmul"], "flops": 0, "activation_bytes": 0}
    report = {"kernels": [{**kernel, "weight_bytes": 1000}, {**kernel, "weight_bytes": 2000}]}
    first, second = roofline.rows(report, [("k", 1e-6), ("k", 1e-6)], machine)
    assert (first.bytes, second.bytes) == (1000, 2000)


def test_a_gauge_keeps_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    peaks, speeds = iter([2.0, 1.0]), iter([10.0, 20.0, 30.0, 40.0, 5.0, 6.0])
    monkeypatch.setattr(roofline, "_look", lambda: (next(peaks), {"L2": 1 << 20, "L3": 1 << 25}))
    monkeypatch.setattr(roofline, "_speed", lambda size: next(speeds))
    gauge = roofline.Gauge()
    gauge.measure()
    gauge.measure()
    assert gauge.machine(1) == Machine(2.0, {"L2": 40.0, "L3": 20.0, "memory": 30.0}, {"L2": 1 << 20, "L3": 1 << 25})
    assert gauge.machine(2).flops == 4.0
    assert gauge.machine(2).bandwidth == {"L2": 80.0, "L3": 40.0, "memory": 30.0}


def test_outputs_that_say_nothing_are_noted(model: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.full((4, 16), np.nan, np.float32))
    done = aiopt_bench(str(model), "--input", f"x={tmp_path / 'x.npy'}", "--vs", "onnxruntime", "--seconds", "0.05")
    assert done.returncode == 0, done.stderr
    assert "note: no output is finite" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "needs a MODEL"),
        (["MODEL", "--vs", "nobody"], "there is no engine 'nobody'"),
        (["MODEL", "--vs", "aiopt"], "--vs takes other engines"),
        (["MODEL", "--threads", "0"], "--threads: '0' is not a whole number"),
        (["MODEL"], "the size of input x"),
        (["MODEL", "--compare", "a", "b"], "takes two records and no models"),
        (["missing.onnx"], "cannot read 'missing.onnx'"),
    ],
)
def test_errors_are_one_line(arguments: list[str], message: str, model: Path) -> None:
    done = aiopt_bench(*[str(model) if text == "MODEL" else text for text in arguments])
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_what_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"format": 7}')
    with pytest.raises(InputError, match="is no record"):
        record.read(path)
    with pytest.raises(InputError, match="cannot read the record"):
        record.read(tmp_path / "none.json")
