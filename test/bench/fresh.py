"""What has to be measured in a process of its own; the answer is one line of JSON.

python test/bench/fresh.py compile MODEL | latency NETWORK | single-node | call | tiny |
    graph OPS
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from e2e.cases import Case

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for e2e

_COMPILATIONS = 10
_LEAST_RUNS, _RUN_SECONDS = 15, 6.0


def compile_model(path: str) -> dict[str, Any]:
    """Seconds from nothing imported to a net, the peak of this process's memory, and what the report says."""
    start = time.perf_counter()
    import aiopt

    net = aiopt.compile(path)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "peak_bytes": _peak_bytes(), "report": net.report()}


def _peak_bytes() -> int:
    """Of this program: ru_maxrss would begin with what the process that started it had."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def latency(network: str) -> dict[str, float]:
    """Median seconds of a run on one thread, ours and ONNX Runtime's, one after the other on one core."""
    import onnxruntime

    import aiopt

    case = _latency_case(network)
    model, inputs = case.model(), case.inputs()
    net = aiopt.compile(model, shapes={key: array.shape for key, array in inputs.items()}, cache=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    source = model if isinstance(model, bytes) else str(model)
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # compiled for the whole machine, run on one core
    return _interleave({"ours": partial(net.run, inputs), "onnxruntime": partial(session.run, None, inputs)})


def _latency_case(network: str) -> Case:
    from aiopt.support.wheels import fetch
    from e2e import models
    from e2e.cases import CASES

    case = CASES[network]
    # As shipped: the tests' detector has a second output, which would keep both engines from fusing its last layer.
    return replace(case, model=partial(fetch, models.DETECTOR)) if network.startswith("detector") else case


def _interleave(runs: dict[str, Callable[[], object]], seconds: float = _RUN_SECONDS) -> dict[str, float]:
    """The median of each."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or min(map(len, times.values())) < _LEAST_RUNS:
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def single_node() -> dict[str, float]:
    """Median seconds to compile models of one node once everything is loaded."""
    import aiopt

    seconds = {}
    for name, model in _single_nodes().items():
        times = []
        for _ in range(1 + _COMPILATIONS):
            start = time.perf_counter()
            net = aiopt.compile(model, cache=False)
            times.append(time.perf_counter() - start)
            net.close()
        seconds[name] = statistics.median(times[1:])
    return seconds


def _single_nodes() -> dict[str, bytes]:
    import numpy as np
    from onnx import numpy_helper

    weight = numpy_helper.from_array(np.random.default_rng(0).standard_normal((64, 64, 1, 1), np.float32), "w")
    image = [1, 64, 56, 56]
    plain = {kind: _model(kind, reads, image) for kind, reads in (("Relu", ["x"]), ("Add", ["x", "y"]))}
    return {**plain, "Conv": _model("Conv", ["x", "w"], image, [weight])}


def _model(kind: str, reads: list[str], shape: list[int], weights: Sequence[Any] = ()) -> bytes:
    """One node that makes `z` of this shape from inputs of this shape and weights."""
    from onnx import TensorProto, helper

    known = {weight.name for weight in weights}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in reads if name not in known]
    output = helper.make_tensor_value_info("z", TensorProto.FLOAT, shape)
    graph = helper.make_graph([helper.make_node(kind, reads, ["z"])], "net", inputs, [output], weights)
    opset = helper.make_opsetid("", 21)
    return helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()


def tiny() -> dict[str, float]:
    """Seconds to compile the first models of one small node, each for the first time in this process (no cache)."""
    import aiopt

    aiopt.compile(_model("Relu", ["x"], [1]), cache=False).close()  # loads what all need
    seconds = {}
    for kind, reads in (("Add", ["x", "y"]), ("Sigmoid", ["x"]), ("MatMul", ["x", "y"]), ("Softmax", ["x"])):
        start = time.perf_counter()
        aiopt.compile(_model(kind, reads, [7, 7]), cache=False).close()
        seconds[kind] = time.perf_counter() - start
    return seconds


def graph(ops: str) -> float:
    """Seconds of ai-graph-pipeline on a module of so many ops, once everything is loaded."""
    from aiopt.passes import io, pipeline
    from bench.graphs import many_ops

    for count in (100, int(ops)):
        unit = io.read_unit(many_ops(count).encode(), io.new_context())
        start = time.perf_counter()
        pipeline.run(unit, "ai-graph-pipeline")
        seconds = time.perf_counter() - start
    return seconds


def call() -> dict[str, float]:
    """Median seconds of calls of a net that computes next to nothing: what a call costs beyond the compiled entry."""
    import numpy as np

    import aiopt

    x, z = np.zeros(4, np.float32), np.zeros(4, np.float32)
    net = aiopt.compile(_model("Relu", ["x"], [4]))
    return _interleave({"net.run": partial(net.run, {"x": x}), "net.bind": net.bind({"x": x}, {"z": z})}, seconds=1.0)


if __name__ == "__main__":
    measurements: dict[str, Callable[..., Any]] = {
        "compile": compile_model,
        "latency": latency,
        "single-node": single_node,
        "call": call,
        "tiny": tiny,
        "graph": graph,
    }
    print(json.dumps(measurements[sys.argv[1]](*sys.argv[2:])))
