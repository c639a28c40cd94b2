"""Figures of fusion: launches of ResNet-50 with `fusion=max`."""

from __future__ import annotations

from collections.abc import Iterator

import aiopt
from aiopt.support.compare import TOLERANCE, relative_difference, run_onnxruntime
from bench.figure import Figure, at_most
from e2e.cases import CASES

SECTIONS = ("fusion",)
_LAUNCHES = 40


def measure() -> Iterator[Figure]:
    """The network is compiled once for all that is asked of it."""
    case = CASES["resnet50-random"]
    model, inputs = case.model(), case.inputs()
    with aiopt.compile(model, fusion="max", cache=False) as net:
        outputs, references = net.run(inputs), run_onnxruntime(model, inputs)
        differences = [relative_difference(outputs[key], want) for key, want in references.items()]
        yield at_most("resnet50, launches with fusion=max", net.report()["launches"], _LAUNCHES)
        yield at_most("resnet50 with fusion=max, difference to ONNX Runtime", max(differences), TOLERANCE)
