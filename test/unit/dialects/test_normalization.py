"""batch_norm and softmax references. Oracles: ONNX Runtime; onnx.reference for f16."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.dialects import ai
from aiopt.support.types import TensorType
from unit.dialects.oracle import onnx_reference_node, onnxruntime_node, run_ai
from unit.dialects.strategies import floats, shapes


@st.composite
def batch_norms(draw):
    x = draw(shapes(2, 5, 1).flatmap(lambda shape: floats(shape, special=False)))
    scale, bias, mean = (draw(floats((x.shape[1],), special=False)) for _ in range(3))
    return [x, scale, bias, mean, np.abs(draw(floats((x.shape[1],), special=False)))]


@settings(max_examples=40, deadline=None)
@given(batch_norms(), st.sampled_from([1e-5, 1e-3, 0.5]))
def test_batch_norm_equals_onnxruntime(operands, epsilon):
    expected = onnxruntime_node("BatchNormalization", operands, epsilon=epsilon)
    result = run_ai(ai.BatchNormOp, *operands, epsilon=epsilon)
    # ONNX Runtime folds the parameters into one scale and shift, which cancels where input is close to mean.
    _, scale, _, mean, variance = operands
    bound = 1e-5 * (1 + np.max(np.abs(scale) * (np.abs(mean) + 8) / np.sqrt(variance + epsilon)))
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=bound)


def test_batch_norm_of_f16_is_computed_in_f32():
    x = np.array([[300.0], [301.0]], np.float16)
    one, zero = np.array([1], np.float16), np.array([0], np.float16)
    result = run_ai(ai.BatchNormOp, x, one, zero, np.array([300], np.float16), np.array([0], np.float16), epsilon=1e-8)
    assert result.ravel().tolist() == [0.0, 10000.0]  # 1e-8 is 0 in f16


@pytest.mark.parametrize("name", ["scale", "bias", "mean", "variance"])
def test_batch_norm_refuses_parameters(name):
    kinds = dict.fromkeys(["scale", "bias", "mean", "variance"], TensorType((3,), "f32"))
    with pytest.raises(ValueError, match=rf"{name} must have the shape \[3\]"):
        ai.BatchNormOp.infer(TensorType((2, 3, 4), "f32"), **{**kinds, name: TensorType((4,), "f32")}, epsilon=1e-5)
    with pytest.raises(ValueError, match=f"one element type.*{name}: f16"):
        ai.BatchNormOp.infer(TensorType((2, 3, 4), "f32"), **{**kinds, name: TensorType((3,), "f16")}, epsilon=1e-5)


def test_batch_norm_refuses_rank_1():
    kinds = [TensorType((3,), "f32")] * 4
    with pytest.raises(ValueError, match=r"\[N, C, ...\]"):
        ai.BatchNormOp.infer(TensorType((3,), "f32"), *kinds, epsilon=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_softmax_equals_onnxruntime(data):
    x = data.draw(shapes(1, 4, 1).flatmap(lambda shape: floats(shape, limit=100, special=False)))
    axis = data.draw(st.integers(0, x.ndim - 1))
    expected = onnxruntime_node("Softmax", [x], axis=axis)
    np.testing.assert_allclose(run_ai(ai.SoftmaxOp, x, axis=axis), expected, rtol=1e-5, atol=1e-7)


def test_softmax_of_special_values():
    # By hand: a row's maximum is subtracted first, so inf - inf makes a row with +inf, or of -inf alone, NaN.
    x = np.array([[-np.inf, 0, -np.inf], [np.nan, 0, 1], [np.inf, 0, 0], [-np.inf] * 3], np.float32)
    expected = np.array([[0, 1, 0], [np.nan] * 3, [np.nan] * 3, [np.nan] * 3], np.float32)
    np.testing.assert_array_equal(run_ai(ai.SoftmaxOp, x), expected)


def test_softmax_of_f16_and_of_nothing():
    x = np.linspace(-5, 5, 4000).astype(np.float16).reshape(1, -1)
    expected = onnx_reference_node("Softmax", [x.astype(np.float32)], axis=1)
    np.testing.assert_allclose(run_ai(ai.SoftmaxOp, x), expected.astype(np.float16), rtol=1e-3, atol=1e-7)
    assert run_ai(ai.SoftmaxOp, np.zeros((2, 0), np.float32)).shape == (2, 0)


@pytest.mark.parametrize("axis", [-1, 2])
def test_softmax_refuses_axes(axis):
    with pytest.raises(ValueError, match=f"axis {axis} is out of range for rank 2"):
        ai.SoftmaxOp.infer(TensorType((2, 3), "f32"), axis=axis)


def test_flops():
    x = TensorType((2, 3, 4), "f32")
    assert ai.SoftmaxOp.flops(x, axis=2) == 5 * 24
    assert ai.BatchNormOp.flops(x, *[TensorType((3,), "f32")] * 4, epsilon=1e-5) == 2 * 24


@settings(max_examples=40, deadline=None)
@given(shapes(1, 4, 1).flatmap(lambda shape: floats(shape, special=False)), st.data())
def test_layer_norm_equals_onnxruntime(x, data):
    axis = data.draw(st.integers(0, x.ndim - 1))
    scale = data.draw(floats(x.shape[axis:], special=False))
    bias = data.draw(st.none() | floats(x.shape[axis:], special=False))
    expected = onnxruntime_node("LayerNormalization", [x, scale, bias], axis=axis, epsilon=1e-2)
    result = run_ai(ai.LayerNormOp, x, scale, bias, axis=axis, epsilon=1e-2)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def test_layer_norm_of_f16_is_computed_in_f32():
    x = np.array([[-600.0, 600.0]], np.float16)  # the squares overflow f16
    assert run_ai(ai.LayerNormOp, x, np.array([2, 2], np.float16), np.array([1, 0], np.float16)).tolist() == [[-1, 2]]


@pytest.mark.parametrize(("axis", "text"), [(2, "axis 2 is out of range"), (0, r"scale must have the shape \[2, 3\]")])
def test_layer_norm_errors(axis, text):
    x, scale = TensorType((2, 3), "f32"), TensorType((3,), "f32")
    with pytest.raises(ValueError, match=text):
        ai.LayerNormOp.infer(x, scale, None, axis=axis, epsilon=1e-5)
