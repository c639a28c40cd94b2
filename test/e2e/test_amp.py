"""Mixed precision on trained networks. Oracle: ONNX Runtime in f32, its optimisations off."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import aiopt
from aiopt.support.compare import LEAST_SQNR, likeness, run_onnxruntime
from aiopt.support.wheels import fetch
from e2e import models
from e2e.models import MINILM, NUDENET

CASES = {
    "minilm": (MINILM, partial(models.tokens, 64)),
    "nudenet": (NUDENET, partial(models.normal, "images", (1, 3, 320, 320))),
}


@pytest.mark.parametrize("name", CASES)
def test_bf16_is_near_f32(name: str) -> None:
    file, inputs = CASES[name][0], CASES[name][1]()
    model = fetch(file)
    references = run_onnxruntime(model, inputs)
    net = aiopt.compile(model, shapes={key: array.shape for key, array in inputs.items()}, amp="bf16")
    try:
        outputs, report = net.run(inputs), net.report()["amp"]
    finally:
        net.close()
    assert report["low"] == report["contractions"] > 0
    for key, want in references.items():
        assert outputs[key].dtype == want.dtype
        if want.dtype == np.float32:
            assert likeness(outputs[key], want).sqnr >= LEAST_SQNR, key
        else:
            np.testing.assert_array_equal(outputs[key], want)
