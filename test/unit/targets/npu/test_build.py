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
from unit.targets.npu.programs import TINY

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


GRAPH = """
func.func private @graph(%x: tensor<1x30xf32>, %w: tensor<30x10xf32>, %v: tensor<30x10xf32>, %u: tensor<10x30xf32>) -> (tensor<1x10xf32>, tensor<1x30xf32>) {
  %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<1x30xf32>, tensor<30x10xf32>) -> tensor<1x10xf32>
  %1 = "ai.matmul"(%x, %v) {acc = f32} : (tensor<1x30xf32>, tensor<30x10xf32>) -> tensor<1x10xf32>
  %2 = "ai.add"(%0, %1) : (tensor<1x10xf32>, tensor<1x10xf32>) -> tensor<1x10xf32>
  %3 = "ai.matmul"(%2, %u) {acc = f32} : (tensor<1x10xf32>, tensor<10x30xf32>) -> tensor<1x30xf32>
  %4 = "ai.relu"(%3) : (tensor<1x30xf32>) -> tensor<1x30xf32>
  return %2, %4 : tensor<1x10xf32>, tensor<1x30xf32>
}
"""  # noqa: E501


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_products_that_need_each_other(depth: int, known: bool) -> None:
    """The bias of one is the result of another, a result is an operand too; right operands are inputs or constants."""
    pick = np.random.default_rng(0)
    x, w, v, u = (pick.standard_normal(shape, np.float32) for shape in ((1, 30), (30, 10), (30, 10), (10, 30)))
    constants = {1: w, 2: v, 3: u} if known else {}
    program = build_kernel(_module(GRAPH), TINY, depth, constants)
    inputs = {"arg0": x} | ({} if known else {"arg1": w, "arg2": v, "arg3": u})
    assert [tensor.name for tensor in program.inputs] == list(inputs)
    result = simulate(program, TINY, inputs)
    assert result.races == []
    hidden = x @ w + x @ v
    assert np.allclose(result.outputs["result0"], hidden, atol=1e-4)
    assert np.allclose(result.outputs["result1"], np.maximum(hidden @ u, 0), atol=1e-3)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"xf32": "xf64", "acc = f32": "acc = f64"}, "its operands are f64, not f32"),
        ({"acc = f32": "acc = f64"}, "its sums are kept in f64, not f32"),
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
