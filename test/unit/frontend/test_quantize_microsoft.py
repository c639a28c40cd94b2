"""Quantised operators of ONNX Runtime's own domain. Oracle: ONNX Runtime, optimisations off."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from aiopt.frontend.onnx.registry import MICROSOFT, covered_opsets, op_types
from aiopt.support.errors import ModelError
from unit.frontend.single_node import NAME, imported, node_model, onnxruntime_run, run

f32 = np.float32
_random = np.random.default_rng(0)
Inputs = list[tuple[str, Any]]


def _integers(dtype: type, *shape: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    return _random.integers(limits.min, limits.max + 1, shape).astype(dtype)


def _signed(*shape: int) -> np.ndarray:
    """i8 in 7 bits: see test_quantize.py."""
    return _random.integers(-64, 64, shape).astype(np.int8)


def _model(op_type: str, inputs: Inputs, **attributes: Any) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    operands = [(name, None if array is None else np.asarray(array)) for name, array in inputs]
    model = node_model(op_type, operands, 17, domain=MICROSOFT, **attributes)
    return model, {name: array for name, array in operands if array is not None}


def _check(op_type: str, inputs: Inputs, **attributes: Any) -> int:
    """Bit for bit but for a few results, a step apart: ONNX Runtime approximates. Returns how many are apart."""
    model, given = _model(op_type, inputs, **attributes)
    (want,), (got,) = onnxruntime_run(model, given).values(), run(model, given).values()
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    difference = np.abs(got.astype(np.int64) - want.astype(np.int64))
    assert difference.max() <= 1
    return int(difference.sum())


DTYPES = pytest.mark.parametrize("dtype", [np.int8, np.uint8])


@DTYPES
@pytest.mark.parametrize("op_type", ["QLinearAdd", "QLinearMul"])
def test_binary(op_type: str, dtype: type) -> None:
    a, b = _integers(dtype, 20, 1, 70), _integers(dtype, 30, 1)
    inputs = [("a", a), ("as", f32(0.03179)), ("az", dtype(3)), ("b", b), ("bs", f32(0.01131)), ("bz", dtype(100))]
    apart = _check(op_type, [*inputs, ("cs", f32(0.05237)), ("cz", dtype(7))])
    assert apart <= 0.001 * a.size * 30


TIES = [(0.02, 0.03, 0.04), (0.25, 0.5, 0.01), (0.01, 0.03, 0.02)]
HANGING = {"ceil_mode": 1, "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1}


@DTYPES
@pytest.mark.parametrize("scales", TIES)
@pytest.mark.parametrize("op_type", ["QLinearAdd", "QLinearMul"])
def test_binary_half_way_between_steps(op_type: str, scales: tuple[float, float, float], dtype: type) -> None:
    """The zero point, an odd one, is added before rounding."""
    a_scale, b_scale, c_scale = map(f32, scales)
    inputs = [("a", _integers(dtype, 3000)), ("as", a_scale), ("az", dtype(5)), ("b", _integers(dtype, 3000))]
    inputs += [("bs", b_scale), ("bz", dtype(9)), ("cs", c_scale), ("cz", dtype(21))]
    assert _check(op_type, inputs) <= (1 if op_type == "QLinearAdd" else 0)  # fused products are not in numpy


@DTYPES
@pytest.mark.parametrize("window", [{}, {"pads": [1, 0, 1, 1]}, HANGING])
def test_pooling_half_way_between_steps(window: dict[str, Any], dtype: type) -> None:
    inputs = [("x", _integers(dtype, 1, 1, 20, 21)), ("xs", f32(0.04)), ("xz", dtype(5))]
    inputs += [("ys", f32(0.02)), ("yz", dtype(21))]
    assert _check("QLinearAveragePool", inputs, kernel_shape=[2, 2], **window) == 0


@DTYPES
@pytest.mark.parametrize(("op_type", "attributes"), [("QLinearSigmoid", {}), ("QLinearLeakyRelu", {"alpha": 0.3})])
def test_unary(op_type: str, attributes: dict[str, float], dtype: type) -> None:
    x = np.arange(256).astype(np.uint8).view(dtype)
    inputs = [("x", x), ("xs", f32(0.0437)), ("xz", dtype(77)), ("ys", f32(1 / 255)), ("yz", dtype(5))]
    assert _check(op_type, inputs, **attributes) <= 1


@DTYPES
@pytest.mark.parametrize("last", [0, 1])
def test_pooling(last: int, dtype: type) -> None:
    x, scales = _integers(dtype, 2, 9, 8, 6), [("ys", f32(0.043)), ("yz", dtype(5))]
    inputs = [("x", x), ("xs", f32(0.031)), ("xz", dtype(9)), *scales]
    assert _check("QLinearGlobalAveragePool", inputs, channels_last=last) == 0
    window = {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "strides": [2, 1]}
    assert _check("QLinearAveragePool", inputs, channels_last=last, **window) <= 3
    assert _check("QLinearAveragePool", inputs, channels_last=last, count_include_pad=1, **window) <= 3


def test_concat() -> None:
    """A list of tensors with their scales; the result has the zero point's type."""
    parts = [("a", _integers(np.uint8, 3, 40)), ("as", f32(0.03)), ("az", np.uint8(9))]
    parts += [("b", _integers(np.uint8, 3, 50)), ("bs", f32(0.05)), ("bz", np.uint8(0))]
    assert _check("QLinearConcat", [("ys", f32(0.043)), ("yz", np.uint8(5)), *parts], axis=-1) == 0


@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("columns", [False, True])
def test_gemm(transposed: int, columns: bool) -> None:
    a, b, c = _integers(np.uint8, 6, 33), _signed(33, 12), _random.integers(-900, 900, 12).astype(np.int32)
    a, b = (np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)) if transposed else (a, b)
    b_scale = _random.uniform(0.01, 0.05, 12).astype(f32) if columns else f32(0.02)
    b_zero = np.zeros(12, np.int8) if columns else np.int8(3)
    inputs = [("a", a), ("as", f32(0.03)), ("az", np.uint8(100)), ("b", b), ("bs", b_scale), ("bz", b_zero), ("c", c)]
    attributes = {"transA": transposed, "transB": transposed, "alpha": 0.7}
    assert _check("QGemm", [*inputs, ("ys", f32(0.9)), ("yz", np.uint8(7))], **attributes) == 0
    model, given = _model("QGemm", inputs, **attributes)
    (want,), (got,) = onnxruntime_run(model, given).values(), run(model, given).values()
    np.testing.assert_allclose(got, want, rtol=1e-6, strict=True)


@pytest.mark.parametrize("bias", [False, True])
def test_products_as_floats(bias: bool) -> None:
    b, b_scale, b_zero = _signed(33, 12), _random.uniform(0.01, 0.05, 12).astype(f32), np.zeros(12, np.int8)
    added = [("bias", _random.normal(0, 1, 12).astype(f32))] if bias else []
    quantized = [("a", _integers(np.uint8, 2, 5, 33)), ("b", b), ("as", f32(0.03)), ("bs", b_scale)]
    dynamic = [("a", _random.normal(0, 3, (2, 5, 33)).astype(f32)), ("b", b), ("bs", b_scale), ("bz", b_zero)]
    for op_type, inputs in (
        ("MatMulIntegerToFloat", [*quantized, ("az", np.uint8(100)), ("bz", b_zero)]),
        ("DynamicQuantizeMatMul", dynamic),
    ):
        model, given = _model(op_type, [*inputs, *added])
        (want,), (got,) = onnxruntime_run(model, given).values(), run(model, given).values()
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-6 * np.abs(want).max(), strict=True)


def test_sixteen_bits_by_axis() -> None:
    x, scale = _random.normal(0, 900, (3, 4)).astype(f32), _random.uniform(0.01, 0.05, 3).astype(f32)
    zero = _integers(np.uint16, 3)
    assert _check("QuantizeLinear", [("x", x), ("s", scale), ("z", zero)], axis=0) == 0
    model, given = _model("DequantizeLinear", [("x", _integers(np.uint16, 3, 4)), ("s", scale), ("z", zero)], axis=0)
    (want,), (got,) = onnxruntime_run(model, given).values(), run(model, given).values()
    np.testing.assert_array_equal(got, want, strict=True)


def test_without_zero_points() -> None:
    """They are 0. (ONNX Runtime ends the process.)"""
    x, step = ("x", _integers(np.int8, 50)), f32(0.05)
    zero = np.int8(0)
    bare, given = _model("QLinearLeakyRelu", [x, ("xs", step), ("xz", None), ("ys", step)])
    full, all_given = _model("QLinearLeakyRelu", [x, ("xs", step), ("xz", zero), ("ys", step), ("yz", zero)])
    (got,), (want,) = run(bare, given).values(), run(full, all_given).values()
    np.testing.assert_array_equal(got, want, strict=True)


def test_they_have_one_opset() -> None:
    assert {tuple(covered_opsets(op_type, MICROSOFT)) for op_type in op_types(MICROSOFT)} == {(1,)}


def test_broken_nodes() -> None:
    inputs = [("x", _integers(np.uint8, 3)), ("xs", np.ones(3, f32)), ("xz", None), ("ys", f32(1))]
    with pytest.raises(ModelError, match=rf"{NAME}.*input 1 \(scale\) must be a scalar, but has shape \[3\]"):
        imported(_model("QLinearSigmoid", inputs)[0])
    with pytest.raises(ModelError, match=f"{NAME}.*input 3 is missing"):
        imported(_model("QLinearSigmoid", [*inputs[:1], ("xs", f32(1))])[0])
