"""Mixed precision on trained networks. Oracle: ONNX Runtime in f32, its optimisations off."""

from __future__ import annotations

import numpy as np
import pytest

import aiopt
from aiopt import driver
from aiopt.dialects import ai, ext
from aiopt.passes import io, pipeline
from aiopt.support.compare import LEAST_SQNR, likeness, run_onnxruntime
from e2e.amp import CASES


@pytest.mark.parametrize("name", CASES)
def test_a_value_is_cast_once(name: str) -> None:
    """And only where its type differs: never back, never to what it is, never beside a cast of the same."""
    case = CASES[name]
    shapes = {key: array.shape for key, array in case.inputs().items()}
    unit = driver.load_unit(case.model(), io.new_context(), shapes)

    def casts() -> list[ai.CastOp]:
        return [op for op in ext.operations(unit.module) if isinstance(op, ai.CastOp)]

    pipeline.run(unit, "ai-graph-pipeline")
    own = len(casts())
    pipeline.run(unit, "ai-amp{type=bf16}")
    made = [op for op in casts() if "bf16" in (ext.type_of(op.input).element, ext.type_of(op.out).element)]
    assert len(casts()) - own == len(made) > 0
    assert unit.module.operation.attributes["ai.amp"]["casts"].value == len(made)
    assert all(ext.type_of(op.out).element == "bf16" for op in made)
    assert len({op.input for op in made}) == len(made)


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
