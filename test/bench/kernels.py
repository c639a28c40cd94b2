"""Figures of single kernels on one core: against the multiply-add peak measured in the same run, or ONNX Runtime's."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import aiopt
from aiopt.bench.peak import fma_peak, least_seconds
from aiopt.support.cost import Work
from aiopt.support.errors import AioptError
from bench.figure import Figure, at_least, at_most, failed
from bench.graph_builder import GraphBuilder
from bench.templates import compile_case, matmul
from e2e import models

_SIZES = (512, 1024, 2048)  # of square matrices
_LEAST_PERCENT = 93
_SECONDS = 2.0
_LEAST_RUNS, _PEAKS = 15, 3
_CHANNELS, _IMAGE = 128, 56  # of the depthwise convolution
_HEADS, _HEAD = 12, 64
Inputs = Mapping[str, np.ndarray]


def _gemm() -> Iterator[Figure]:
    """Square matrix products with packed weights, bias and relu."""
    for size in _SIZES:
        case = matmul(size, size, size)
        net, _, _ = compile_case(case)
        x = {"x": np.random.default_rng(0).standard_normal(case.input, np.float32)}
        speed = case.flops / least_seconds(net, x, _SECONDS)
        yield at_least(f"{case.name}, % of the multiply-add peak", 100 * speed / _peak(), _LEAST_PERCENT)


def _convolutions() -> Iterator[Figure]:
    """ResNet-50's convolutions as they run in it: each kernel's least time, directly and as they are by default.

    By default what counts are the operations that were asked for, of which Winograd's algorithm computes fewer.
    """
    model, inputs = models.resnet50_random(), models.resnet50_input()
    for winograd in ("off", "auto"):
        with aiopt.compile(model, winograd=winograd, cache=False) as net:
            profile, kernels = _profile(net, inputs), net.report()["kernels"]
        peak = _peak()
        for name, (seconds, entry) in _slowest(profile, kernels).items():
            work = Work.of(entry)
            percent = 100 * work.flops / seconds / peak
            by = f"Winograd's F({work.tile},3)" if work.tile else f"template {work.template}"
            size = f"{work.flops / 1e6:.0f} MFLOP, {work.weight_bytes / 1e3:.0f} kB of weights"
            title = f"resnet50, winograd={winograd}, {name} ({size}; {by}), % of the peak"
            yield at_least(title, percent, _LEAST_PERCENT)


def _peak() -> float:
    """The best of some measurements: what else runs on the machine only takes away."""
    return max(fma_peak() for _ in range(_PEAKS))


def _slowest(profile: list[tuple[str, float]], kernels: list[dict[str, Any]]) -> dict[str, tuple[float, dict]]:
    """Of each kernel with a convolution, the call that takes longest, and its entry in the report."""
    found: dict[str, tuple[float, dict]] = {}
    for (name, seconds), entry in zip(profile, kernels, strict=True):
        if "ai.conv" in entry["ops"] and seconds > found.get(name, (0.0, {}))[0]:
            found[name] = seconds, entry
    return found


def _depthwise() -> Iterator[Figure]:
    """A depthwise convolution between two pointwise ones: its kernel's least time in both engines."""
    model = _depthwise_model()
    x = models.normal("x", (1, _CHANNELS, _IMAGE, _IMAGE))
    with aiopt.compile(model, winograd="off", cache=False) as net:
        kernels = [entry["nodes"] for entry in net.report()["kernels"]]
        profile = _profile(net, x)
    ours = min(seconds for (_, seconds), nodes in zip(profile, kernels, strict=True) if "Conv_1" in nodes)
    name = f"depthwise 3x3 at {_CHANNELS}x{_IMAGE}x{_IMAGE}, time / ONNX Runtime's"
    yield at_most(name, ours / _onnxruntime_kernel(model, x, [_CHANNELS, 1, 3, 3]), 1.0)


def _depthwise_model() -> bytes:
    graph = GraphBuilder(seed=0)
    x = graph.input("x", (1, _CHANNELS, _IMAGE, _IMAGE))
    for taps in (1, 3, 1):
        depth, group = (_CHANNELS, 1) if taps == 1 else (1, _CHANNELS)
        weight = graph.normal((_CHANNELS, depth, taps, taps), (depth * taps * taps) ** -0.5)
        x = graph.node("Conv", x, weight, graph.normal((_CHANNELS,), 0.1, "bias"), group=group, pads=[taps // 2] * 4)
        x = graph.node("Relu", x)
    return graph.model("depthwise", {"y": (x, (1, _CHANNELS, _IMAGE, _IMAGE))})


def _onnxruntime_kernel(model: bytes, inputs: Inputs, weight: list[int]) -> float:
    """The least seconds of the kernel with a weight of this shape in ONNX Runtime, by its own profile, which counts
    whole microseconds and has other names than the model."""
    import onnxruntime

    with tempfile.TemporaryDirectory(prefix="aiopt-figures-") as folder:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(folder) / "profile")
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        _repeat(lambda: session.run(None, dict(inputs)))
        events = json.loads(Path(session.end_profiling()).read_text())
    found = [event["dur"] for event in events if {"float": weight} in event.get("args", {}).get("input_type_shape", [])]
    if not found:
        raise AioptError(f"ONNX Runtime's profile has no kernel with a weight of {weight}")
    return max(1, min(found)) / 1e6


def _attention() -> Iterator[Figure]:
    """softmax(q k' / 8 + mask) v of twelve heads of 64: CPU time of a call in both engines."""
    for tokens in (64, 128, 512):
        model, inputs = _attention_model(tokens), _attention_inputs(tokens)
        name = f"attention, {_HEADS} heads of {_HEAD}, {tokens} tokens, time / ONNX Runtime's"
        yield at_most(name, _ratio(model, inputs), 1.0)


def _attention_model(tokens: int) -> bytes:
    graph = GraphBuilder(seed=0)
    q, k, v = (graph.input(name, (1, _HEADS, tokens, _HEAD)) for name in "qkv")
    mask = graph.input("mask", (1, 1, 1, tokens))
    scores = graph.node("MatMul", q, graph.node("Transpose", k, perm=[0, 1, 3, 2]))
    scores = graph.node("Add", graph.node("Div", scores, graph.constant(_HEAD**0.5)), mask)
    y = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), v)
    return graph.model("attention", {"y": (y, (1, _HEADS, tokens, _HEAD))})


def _attention_inputs(tokens: int) -> dict[str, np.ndarray]:
    pick = np.random.default_rng(0)
    made = {name: pick.standard_normal((1, _HEADS, tokens, _HEAD), np.float32) for name in "qkv"}
    return {**made, "mask": np.zeros((1, 1, 1, tokens), np.float32)}


def _ratio(model: bytes, inputs: Inputs) -> float:
    """Least CPU time of a call, ours / ONNX Runtime's, in turns."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    with aiopt.compile(model, cache=False) as net:
        runs: list[Callable[[], object]] = [partial(net.run, inputs), lambda: session.run(None, dict(inputs))]
        times: list[list[float]] = [[], []]

        def both() -> None:
            for run, found in zip(runs, times, strict=True):
                start = time.thread_time()
                run()
                found.append(time.thread_time() - start)

        _repeat(both)
    return min(times[0]) / min(times[1])


def _profile(net: Any, inputs: Inputs) -> list[tuple[str, float]]:
    """Each kernel call and its least seconds."""
    found: list[list[tuple[str, float]]] = []
    _repeat(lambda: found.append(net.profile(inputs)))
    return [(calls[0][0], min(seconds for _, seconds in calls)) for calls in zip(*found, strict=True)]


def _repeat(run: Callable[[], object]) -> None:
    end, runs = time.perf_counter() + _SECONDS, 0
    while time.perf_counter() < end or runs < _LEAST_RUNS:
        run()
        runs += 1


SECTIONS: dict[str, Callable[[], Iterator[Figure]]] = {
    "gemm": _gemm,
    "convolutions": _convolutions,
    "depthwise": _depthwise,
    "attention": _attention,
}


def measure(section: str) -> Iterator[Figure]:
    """The figures of one of SECTIONS."""
    try:
        yield from SECTIONS[section]()
    except AioptError as error:  # the other sections can still be measured
        yield failed(section, error)
