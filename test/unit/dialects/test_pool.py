"""Pooling references. Oracles: ONNX Runtime (floor mode, so that engines agree); NaN and integers by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.dialects import ai
from aiopt.support.types import TensorType
from unit.dialects.oracle import onnxruntime_node, run_ai
from unit.dialects.strategies import floats


@st.composite
def pools(draw, dilated: bool):
    rank = draw(st.integers(1, 3))
    kernel = [draw(st.integers(1, 3)) for _ in range(rank)]
    dilations = [draw(st.integers(1, 2)) if dilated else 1 for _ in range(rank)]
    strides = [draw(st.integers(1, 3)) for _ in range(rank)]
    pads = [draw(st.integers(0, kernel[i % rank] - 1)) for i in range(2 * rank)]
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    spatial = [draw(st.integers(extent, extent + 4)) for extent in extents]
    x = draw(floats((draw(st.integers(1, 2)), draw(st.integers(1, 3)), *spatial), special=False))
    window = {"kernel": kernel, "strides": strides, "pads": pads}
    return x, {**window, "dilations": dilations} if dilated else window


def _onnx(window):
    return {("kernel_shape" if key == "kernel" else key): value for key, value in window.items()}


@settings(max_examples=50, deadline=None)
@given(pools(dilated=True))
def test_max_pool_equals_onnxruntime(case):
    x, window = case
    expected = onnxruntime_node("MaxPool", [x], **_onnx(window))
    np.testing.assert_array_equal(run_ai(ai.MaxPoolOp, x, **window), expected)


@settings(max_examples=50, deadline=None)
@given(pools(dilated=False), st.booleans())
def test_avg_pool_equals_onnxruntime(case, include):
    x, window = case
    expected = onnxruntime_node("AveragePool", [x], **_onnx(window), count_include_pad=int(include))
    result = run_ai(ai.AvgPoolOp, x, **window, count_include_pad=include)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_max_pool_keeps_nan():
    x = np.array(
        [[[1, np.nan, 3, 4]]], np.float32
    )  # ONNX Runtime loses the NaN here; ai keeps it (DESIGN: NaN propagates)
    np.testing.assert_array_equal(run_ai(ai.MaxPoolOp, x, kernel=[2]), [[[np.nan, np.nan, 4]]])


def test_padding_never_wins_a_maximum():
    floats_ = np.full((1, 1, 2), -np.inf, np.float32)
    assert np.isneginf(run_ai(ai.MaxPoolOp, floats_, kernel=[2], pads=[1, 1])).all()
    lowest = np.full((1, 1, 2), -100, np.int8)
    assert run_ai(ai.MaxPoolOp, lowest, kernel=[2], pads=[1, 1]).tolist() == [[[-100, -100, -100]]]


def test_avg_pool_by_hand():
    x = np.array([[[2, 4, 6]]], np.float32)
    assert run_ai(ai.AvgPoolOp, x, kernel=[2], pads=[1, 1]).tolist() == [[[2, 3, 5, 6]]]
    assert run_ai(ai.AvgPoolOp, x, kernel=[2], pads=[1, 1], count_include_pad=True).tolist() == [[[1, 3, 5, 3]]]


def test_avg_pool_of_f16_is_summed_in_f32():
    x = np.full((1, 1, 64), 2000, np.float16)
    assert run_ai(ai.AvgPoolOp, x, kernel=[64]).tolist() == [[[2000]]]  # 128000 is infinite in f16


@pytest.mark.parametrize(
    ("shape", "changed", "message"),
    [
        ((1, 1), {}, r"\[N, C, \*spatial\]"),
        ((1, 1, 4), {}, "kernel must have 1 numbers, but has 2"),
        ((1, 1, 1, 4), {}, "spatial dimension 0: the window spans 2"),
        ((1, 1, 4, 4), {"pads": [2, 0, 0, 0]}, r"pads must be smaller than the window \(2\)"),
        ((1, 1, 4, 4), {"kernel": [0, 2]}, "kernel must be 1 or more"),
        ((1, 1, 4, 4), {"strides": [1, 0]}, "strides must be 1 or more"),
        ((1, 1, 4, 4), {"pads": [0]}, "pads must have 4 numbers"),
    ],
)
@pytest.mark.parametrize("op", [ai.MaxPoolOp, ai.AvgPoolOp])
def test_pools_refuse(op, shape, changed, message):
    x = TensorType(shape, "f32")
    attributes = {"kernel": [2, 2], **changed}
    with pytest.raises(ValueError, match=message):
        op.infer(x, **{**op.defaults(x, **attributes), **attributes})


def test_flops_count_the_elements_of_all_windows():
    x = TensorType((1, 2, 8, 8), "f32")
    window = {"kernel": [3, 2], "strides": [2, 2], "pads": [0] * 4}
    assert ai.MaxPoolOp.flops(x, **window, dilations=[1, 1]) == 2 * (3 * 4) * 6
    assert ai.AvgPoolOp.flops(x, **window, count_include_pad=False) == 2 * (3 * 4) * 6
