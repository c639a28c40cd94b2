"""Figures of mixed precision: digits of the networks of the end-to-end tests, latency in bf16 beside f32."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

import aiopt
from aiopt.support.compare import LEAST_SQNR, likeness, run_onnxruntime
from aiopt.support.wheels import fetch
from aiopt.targets.cpu.record import cpu_record
from bench.figure import Figure
from e2e import models
from e2e.amp import CASES

SECTIONS = ("amp",)
_RUNS = 11
_SPEEDUP = 1.5
_INSTRUCTION = "avx512bf16"
_TIMED: dict[str, tuple[Callable[[], bytes | Path], Callable[[], dict[str, np.ndarray]]]] = {
    "resnet50-random": (models.resnet50_random, models.resnet50_input),
    "minilm-128": (lambda: fetch(models.MINILM), lambda: models.tokens(128)),
}


def measure() -> Iterator[Figure]:
    """SQNR of each network, then the ratio of latencies, both nets run in turn in this process."""
    for name, case in CASES.items():
        model, inputs = case.model(), case.inputs()
        references = run_onnxruntime(model, inputs)
        with aiopt.compile(model, shapes=_shapes(inputs), amp="bf16") as net:
            outputs = net.run(inputs)
        floats = [key for key in case.compared(references) if references[key].dtype == np.float32]
        worst = min(likeness(outputs[key], references[key]).sqnr for key in floats)
        asked = f">= {LEAST_SQNR:g} dB"
        yield Figure(f"{name}, SQNR of bf16 to ONNX Runtime in f32", f"{worst:.1f} dB", asked, worst >= LEAST_SQNR)
    for name, (model, inputs) in _TIMED.items():
        yield _ratio(name, model(), inputs())


def _ratio(name: str, model: bytes | Path, inputs: Mapping[str, np.ndarray]) -> Figure:
    """The bound is for CPUs that have the instruction; on others the figure is for information."""
    shapes, seconds = _shapes(inputs), {"none": [], "bf16": []}
    with aiopt.compile(model, shapes=shapes) as plain, aiopt.compile(model, shapes=shapes, amp="bf16") as low:
        nets = {"none": plain, "bf16": low}
        for _ in range(_RUNS):
            for amp, net in nets.items():
                start = time.perf_counter()
                net.run(inputs)
                seconds[amp].append(time.perf_counter() - start)
    ratio = float(np.median(seconds["bf16"]) / np.median(seconds["none"]))
    most, has = 1 / _SPEEDUP, _INSTRUCTION in cpu_record().features
    asked = f"<= {most:.2f}" + ("" if has else f" on a CPU with {_INSTRUCTION}, which this one has not")
    return Figure(f"{name}, latency on one thread in bf16 / in f32", f"{ratio:.2f}", asked, not has or ratio <= most)


def _shapes(inputs: Mapping[str, np.ndarray]) -> dict[str, tuple[int, ...]]:
    return {key: array.shape for key, array in inputs.items()}
