"""Kernels to programs, run on the simulator against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ext
from aiopt.dialects.ai import AiDialect
from aiopt.support.errors import UnsupportedError
from aiopt.targets.npu.build import build_kernel, can_run
from aiopt.targets.npu.machine import find_machine
from aiopt.targets.npu.simulator import simulate

EDGE = find_machine("edge16")
LAYER = """
func.func private @layer(%x: tensor<20x30xf32> {ai.name = "x"}, %w: tensor<30x10xf32>, %b: tensor<10xf32>) -> tensor<20x10xf32> {
  %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<20x30xf32>, tensor<30x10xf32>) -> tensor<20x10xf32>
  %1 = "ai.add"(%0, %b) : (tensor<20x10xf32>, tensor<10xf32>) -> tensor<20x10xf32>
  %2 = "ai.relu"(%1) : (tensor<20x10xf32>) -> tensor<20x10xf32>
  return %2 : tensor<20x10xf32>
}
"""  # noqa: E501


def _module(text: str) -> ir.Module:
    context = ir.Context()
    context.enable_multithreading(False)
    AiDialect.load(context)
    return ir.Module.parse(text, context)


def test_a_kernel_runs() -> None:
    pick = np.random.default_rng(0)
    x, w, b = (pick.standard_normal(shape).astype(np.float32) for shape in ((20, 30), (30, 10), (10,)))
    result = simulate(build_kernel(_module(LAYER), EDGE, constants={1: w, 2: b}), EDGE, {"x": x})
    assert result.races == []
    assert np.allclose(result.outputs["result0"], np.maximum(x @ w + b, 0), atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"xf32": "xf64", "acc = f32": "acc = f64"}, "its operands are f64, not f32"),
        ({'"ai.relu"(%1)': '"ai.exp"(%1)'}, "the NPU has no instruction for it"),
        ({'"ai.relu"(%1)': '"ai.relu"(%0)'}, "adds no bias"),
        ({"(%0, %b)": "(%0, %0)", "10xf32>, tensor<10xf32>)": "10xf32>, tensor<20x10xf32>)"}, "adds no bias"),
    ],
)
def test_what_an_npu_cannot_run(changes: dict[str, str], reason: str) -> None:
    text = LAYER
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    module = _module(text)
    reasons = [can_run(op) or "" for op in ext.operations(module) if isinstance(op, ext.Operation)]
    assert any(reason in found for found in reasons)
    with pytest.raises(UnsupportedError, match="does not run on an NPU"):
        build_kernel(module, EDGE)
