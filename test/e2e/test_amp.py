"""Mixed precision on trained networks. Oracle: ONNX Runtime in f32, its optimisations off."""

from __future__ import annotations

import numpy as np
import pytest

import aiopt
from aiopt.support.compare import LEAST_SQNR, likeness, run_onnxruntime
from e2e.amp import CASES


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
    for key in case.compared(references):
        want = references[key]
        assert outputs[key].dtype == want.dtype
        if want.dtype == np.float32:
            assert likeness(outputs[key], want).sqnr >= LEAST_SQNR, key
        else:
            np.testing.assert_array_equal(outputs[key], want)
