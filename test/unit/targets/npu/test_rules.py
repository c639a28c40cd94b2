"""What an NPU takes of integer kernels: numbers against numpy, and the reasons why not."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects.ai import AiDialect
from aiopt.support.errors import UnsupportedError
from aiopt.targets.npu.build import build_kernel
from aiopt.targets.npu.machine import find_machine
from aiopt.targets.npu.simulator import simulate

EDGE = find_machine("edge16")
# relu(requantize(x @ (w - 1) + b)), as a quantised layer with a bias is imported.
DENSE = """
func.func @dense(%x: tensor<2x10x30xui8>, %w: tensor<30x20xi8>, %b: tensor<20xi32>, %f: tensor<20xf32>) -> tensor<2x10x20xi8> {
  %xz = arith.constant dense<9> : tensor<ui8>
  %wz = arith.constant dense<1> : tensor<i8>
  %yz = arith.constant dense<-5> : tensor<i8>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = "ai.matmul_integer"(%x, %w, %xz, %wz) : (tensor<2x10x30xui8>, tensor<30x20xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x10x20xi32>
  %1 = "ai.add"(%0, %b) : (tensor<2x10x20xi32>, tensor<20xi32>) -> tensor<2x10x20xi32>
  %2 = "ai.cast"(%1) {to = f32} : (tensor<2x10x20xi32>) -> tensor<2x10x20xf32>
  %3 = "ai.mul"(%2, %f) : (tensor<2x10x20xf32>, tensor<20xf32>) -> tensor<2x10x20xf32>
  %4 = "ai.quantize_linear"(%3, %one, %yz) : (tensor<2x10x20xf32>, tensor<f32>, tensor<i8>) -> tensor<2x10x20xi8>
  %5 = "ai.maximum"(%yz, %4) : (tensor<i8>, tensor<2x10x20xi8>) -> tensor<2x10x20xi8>
  return %5 : tensor<2x10x20xi8>
}
"""  # noqa: E501
QLINEAR = """
func.func @q(%x: tensor<4x6xi8>, %w: tensor<6x5xi8>) -> tensor<4x5xi8> {
  %s = arith.constant dense<2.0> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = "ai.qlinear_matmul"(%x, %s, %z, %w, %s, %z, %s, %z) : (tensor<4x6xi8>, tensor<f32>, tensor<i8>, tensor<6x5xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<4x5xi8>
  %1 = "ai.relu"(%0) : (tensor<4x5xi8>) -> tensor<4x5xi8>
  return %1 : tensor<4x5xi8>
}
"""  # noqa: E501


def _module(text: str, *changes: tuple[str, str]) -> ir.Module:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    context = ir.Context()
    context.enable_multithreading(False)
    AiDialect.load(context)
    return ir.Module.parse(text, context)


def _dense_values(seed: int) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    pick = np.random.default_rng(seed)
    weight = pick.integers(-127, 128, (30, 20)).astype(np.int8)
    bias = pick.integers(-5000, 5000, 20).astype(np.int32)
    factor = pick.uniform(1e-4, 3e-3, 20).astype(np.float32)
    return pick.integers(0, 256, (2, 10, 30)).astype(np.uint8), {1: weight, 2: bias, 3: factor}


def test_requantization_in_parts_is_one_instruction() -> None:
    x, constants = _dense_values(0)
    weight, bias, factor = constants.values()
    program = build_kernel(_module(DENSE), EDGE, constants=constants)
    result = simulate(program, EDGE, {"arg0": x})
    sums = (x.astype(np.int32) - 9) @ (weight.astype(np.int32) - 1) + bias
    expected = np.clip(np.rint(sums.astype(np.float32) * factor) - 5, -128, 127).astype(np.int8)
    assert result.races == []
    assert np.array_equal(result.outputs["result0"], np.maximum(expected, -5))
    mnemonics = [op.mnemonic for op in program.instructions]
    assert mnemonics.count("requant") == mnemonics.count("dma_st")
    assert "vec" not in mnemonics


_BYTES, _REALS, _SUMS = (f"tensor<2x10x20x{element}>" for element in ("i8", "f32", "i32"))
_OTHER_BOUND = [
    ("(%yz, %4)", "(%bound, %4)"),
    ("  %one", "  %bound = arith.constant dense<0> : tensor<i8>\n  %one"),
]
_NO_BOUND = [(f'"ai.maximum"(%yz, %4) : (tensor<i8>, {_BYTES})', f'"ai.maximum"(%4, %4) : ({_BYTES}, {_BYTES})')]
_NO_SCALE = [(f"(%2, %f) : ({_REALS}, tensor<20xf32>)", f"(%2, %2) : ({_REALS}, {_REALS})")]
_NO_BIAS = [(f"(%0, %b) : ({_SUMS}, tensor<20xi32>)", f"(%0, %0) : ({_SUMS}, {_SUMS})")]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ([("dense<1.0>", "dense<2.0>")], "begins no requantization"),
        (_OTHER_BOUND, "bound is not what stands for 0"),
        (_NO_BOUND, "it is no relu"),
        (_NO_SCALE, "begins no requantization"),
        (_NO_BIAS, "adds no bias"),
    ],
)
def test_requantizations_that_are_none(changes: list[tuple[str, str]], reason: str) -> None:
    with pytest.raises(UnsupportedError, match=f"does not run on an NPU: .*{reason}"):
        build_kernel(_module(DENSE, *changes), EDGE, constants=_dense_values(0)[1])


def test_weights_must_be_constant() -> None:
    with pytest.raises(UnsupportedError, match="does not run on an NPU: its weights are no constants"):
        build_kernel(_module(DENSE), EDGE)


def test_relu_of_integers_needs_zero_to_be_zero() -> None:
    weight = np.ones((6, 5), np.int8)
    with pytest.raises(UnsupportedError, match="ai.relu .* its bound is not what stands for 0"):
        build_kernel(_module(QLINEAR), EDGE, constants={1: weight})
    program = build_kernel(_module(QLINEAR, ("dense<3>", "dense<0>")), EDGE, constants={1: weight})
    result = simulate(program, EDGE, {"arg0": np.array([[-9] * 6, [1] * 6, [9] * 6, [0] * 6], np.int8)})
    assert (result.outputs["result0"][:, 0] == [0, 12, 108, 0]).all()


def test_weights_beyond_int8_are_refused_where_they_are_known() -> None:
    weight = np.full((6, 5), -126, np.int8)
    module = _module(QLINEAR)
    with pytest.raises(UnsupportedError, match="its weights less their zero point do not fit int8"):
        build_kernel(module, EDGE, constants={1: weight})


def test_a_value_must_have_the_type_of_its_argument() -> None:
    with pytest.raises(UnsupportedError, match="argument 1 is 6x5xi8, but its value 6x4xi8"):
        build_kernel(_module(QLINEAR), EDGE, constants={1: np.zeros((6, 4), np.int8)})


def test_what_a_kernel_returns_must_be_computed() -> None:
    text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}"
    with pytest.raises(UnsupportedError, match="kernel @f returns an argument, a constant or a value twice"):
        build_kernel(_module(text), EDGE)
