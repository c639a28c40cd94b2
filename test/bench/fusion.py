"""Figures of fusion: launches of ResNet-50 with `fusion=max`, and kernels that only move data in two networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import aiopt
from aiopt.support.compare import TOLERANCE, relative_difference, run_onnxruntime
from bench.figure import Figure, at_most
from e2e.cases import CASES

SECTIONS = ("fusion",)
_LAUNCHES = 40
_MOVING = frozenset(f"ai.{name}" for name in ("concat", "identity", "insert", "pad", "relayout", "slice", "transpose"))


def measure() -> Iterator[Figure]:
    """Each network is compiled once for all that is asked of it."""
    case = CASES["resnet50-random"]
    model, inputs = case.model(), case.inputs()
    with aiopt.compile(model, fusion="max", cache=False) as net:
        outputs, references = net.run(inputs), run_onnxruntime(model, inputs)
        differences = [relative_difference(outputs[key], want) for key, want in references.items()]
        yield at_most("resnet50, launches with fusion=max", net.report()["launches"], _LAUNCHES)
        yield at_most("resnet50 with fusion=max, difference to ONNX Runtime", max(differences), TOLERANCE)
    for name in ("resnet50-random", "squeezenet-random"):
        with aiopt.compile(CASES[name].model(), cache=False) as net:
            yield at_most(f"{name}, kernels that only move data", moving_kernels(net.report()), 0)


def moving_kernels(report: dict[str, Any]) -> int:
    """Calls of kernels that compute nothing."""
    return sum(set(kernel["ops"]) <= _MOVING for kernel in report["kernels"])
