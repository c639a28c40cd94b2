"""Figures that every network of the end-to-end tests has: each network is compiled once for all that is asked."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np

import aiopt
from aiopt.runtime.net import CompiledNet
from aiopt.support.compare import TOLERANCE, relative_difference, run_onnxruntime
from aiopt.support.errors import AioptError
from bench.figure import Figure, at_most, failed
from e2e.cases import CASES, Case
from e2e.native import count_mallocs

SECTIONS = ("difference", "arena", "moves", "allocations", "bits")
SLOW = ("bvlc_alexnet", "densenet121", "vgg19", "zfnet512")  # hundreds of MB of weights, or of layers

_ARENA_SLACK = 1.05
_UNMOVED = ("resnet50-random", "squeezenet-random", "minilm-128")
_MOVEMENTS = frozenset(
    f"ai.{name}" for name in ("concat", "identity", "insert", "pad", "relayout", "slice", "transpose")
)


def measure(sections: Set[str], quick: bool) -> Iterator[Figure]:
    """The figures of these sections for all networks; quick: for all but the slow ones."""
    for name, case in CASES.items():
        if quick and name.startswith(SLOW):
            continue
        try:
            yield from _measure_one(name, case, sections)
        except (AioptError, AssertionError) as error:  # the others can still be measured
            yield failed(name, error)


def _measure_one(name: str, case: Case, sections: Set[str]) -> Iterator[Figure]:
    model, inputs = case.model(), case.inputs()
    shapes = {key: array.shape for key, array in inputs.items()}
    with aiopt.compile(model, shapes=shapes, cache=False) as net:
        if "difference" in sections:
            outputs, references = net.run(inputs), run_onnxruntime(model, inputs)
            differences = [relative_difference(outputs[key], want) for key, want in references.items()]
            yield at_most(f"{name}, difference to ONNX Runtime", max(differences), TOLERANCE, "of the largest output")
        if "arena" in sections:
            report = net.report()
            ratio = report["arena_bytes"] / report["arena_lower_bound_bytes"]
            yield at_most(f"{name}, arena / its lower bound", ratio, _ARENA_SLACK)
        if "moves" in sections and name in _UNMOVED:
            moves = moving_kernels(net.report()["kernels"])
            title = f"{name}, kernels that only transpose, pad or copy"
            yield Figure(title, ", ".join(moves) or "none", "none", not moves)
        if sections & {"allocations", "bits"}:
            yield from _run_natively(name, net, inputs, sections)


def moving_kernels(kernels: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of those that compute nothing: they transpose, pad or copy.

    Not counted are copies of no node: an output that is an input of the model must be one.
    """
    return [kernel["kernel"] for kernel in kernels if kernel["nodes"] and set(kernel["ops"]) <= _MOVEMENTS]


def _run_natively(name: str, net: CompiledNet, inputs: dict[str, np.ndarray], sections: Set[str]) -> Iterator[Figure]:
    ordered = [inputs[key] for key in net.inputs]
    with tempfile.TemporaryDirectory(prefix="aiopt-figures-") as folder:
        run = count_mallocs(net.name, net.objects, net.weights, ordered, len(net.outputs), Path(folder))
    if "allocations" in sections:
        calls = sum(sum(kinds.values()) for kinds in run.calls.values())
        yield at_most(f"{name}, allocations in runs on 1 and 2 threads", calls, 0)
    if "bits" in sections:
        yield Figure(f"{name}, bits on 1 and 2 threads", "equal" if run.same else "differ", "equal", run.same)
