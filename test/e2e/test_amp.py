"""Mixed precision on trained networks. Oracle: ONNX Runtime in f32, its optimisations off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest

import aiopt
from aiopt.support.compare import LEAST_SQNR, likeness, run_onnxruntime
from aiopt.support.wheels import fetch
from e2e import models
from e2e.lines import LINES
from e2e.models import MINILM, NUDENET
from e2e.weights import promote_input


@dataclass(frozen=True)
class Case:
    """A model, its inputs, and whether only its last output counts: what is before the last softmax or sigmoid."""

    model: Callable[[], bytes | Path]
    inputs: Callable[[], dict[str, np.ndarray]]
    only_last: bool = False


def _recogniser() -> bytes:
    """With the last softmax's input as an output, as `models.detector` has the last sigmoid's."""
    model = onnx.load(models.recogniser())
    promote_input(model, "Softmax")
    return model.SerializeToString()


def _page() -> dict[str, np.ndarray]:
    return models.page_input(models.render_page(LINES[:10], 28, (640, 640)))


CASES = {
    "minilm": Case(partial(fetch, MINILM), partial(models.tokens, 128)),
    "nudenet": Case(partial(fetch, NUDENET), partial(models.normal, "images", (1, 3, 320, 320))),
    "detector": Case(models.detector, _page, only_last=True),
    "recogniser": Case(_recogniser, models.recogniser_input, only_last=True),
}


@pytest.mark.parametrize("name", CASES)
def test_bf16_is_near_f32(name: str) -> None:
    """And no cast is a kernel of its own, nor makes one walk over memory twice."""
    case = CASES[name]
    model, inputs = case.model(), case.inputs()
    references = run_onnxruntime(model, inputs)
    net = aiopt.compile(model, shapes={key: array.shape for key, array in inputs.items()}, amp="bf16")
    try:
        outputs, report = net.run(inputs), net.report()
    finally:
        net.close()
    assert 0 < report["amp"]["low"] <= report["amp"]["contractions"]
    assert report["amp"]["casts"] > 0
    for kernel in report["kernels"]:
        assert kernel["ops"] != ["ai.cast"]
        assert "ai.cast" not in kernel["ops"] or kernel["launches"] == 1
    for key in list(references)[-1:] if case.only_last else references:
        want = references[key]
        assert outputs[key].dtype == want.dtype
        if want.dtype == np.float32:
            assert likeness(outputs[key], want).sqnr >= LEAST_SQNR, key
        else:
            np.testing.assert_array_equal(outputs[key], want)
