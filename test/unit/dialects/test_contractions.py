"""matmul and conv references. Oracles: ONNX Runtime; values by hand where it has no kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.dialects import ai
from aiopt.support.types import TensorType
from unit.dialects.oracle import onnxruntime_node, run_ai
from unit.dialects.strategies import floats


@st.composite
def matrices(draw):
    lead = draw(st.sampled_from([((), ()), ((2,), ()), ((), (3,)), ((2, 1), (3,)), ((1,), (4, 2)), ((0,), (1,))]))
    m, k, n = (draw(st.integers(0, 5)) for _ in range(3))
    return draw(floats((*lead[0], m, k), special=False)), draw(floats((*lead[1], k, n), special=False))


@settings(max_examples=40, deadline=None)
@given(matrices())
def test_matmul_equals_onnxruntime(operands):
    expected = onnxruntime_node("MatMul", list(operands))
    np.testing.assert_allclose(run_ai(ai.MatMulOp, *operands), expected, rtol=1e-5, atol=1e-4)


def test_matmul_propagates_nan_and_infinity():
    lhs = np.array([[np.nan, 0], [np.inf, 1]], np.float32)
    result = run_ai(ai.MatMulOp, lhs, np.eye(2, dtype=np.float32))
    np.testing.assert_array_equal(np.isnan(result), [[True, True], [False, True]])  # inf * 0 is NaN


def test_accumulator_holds_what_f16_cannot():
    lhs, rhs = np.full((1, 4096), 1, np.float16), np.full((4096, 1), 1, np.float16)
    assert run_ai(ai.MatMulOp, lhs, rhs).item() == 4096  # summed one by one in f16 it would stop at 2048
    x, w = np.ones((1, 4096, 1), np.float16), np.ones((1, 4096, 1), np.float16)
    assert run_ai(ai.ConvOp, x, w, None).item() == 4096
    big = np.array([[60000, 60000, -60000]], np.float16)
    assert run_ai(ai.MatMulOp, big, np.ones((3, 1), np.float16)).item() == 60000  # f16 would overflow on the way


@st.composite
def convolutions(draw):
    rank, group = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    kernel = [draw(st.integers(1, 3)) for _ in range(rank)]
    dilations = [draw(st.integers(1, 2)) for _ in range(rank)]
    strides = [draw(st.integers(1, 3)) for _ in range(rank)]
    pads = [draw(st.integers(0, 3)) for _ in range(2 * rank)]
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    spatial = [draw(st.integers(extent, extent + 3)) for extent in extents]
    channels, filters = group * draw(st.integers(1, 2)), group * draw(st.integers(1, 2))
    x = draw(floats((draw(st.integers(1, 2)), channels, *spatial), special=False))
    w = draw(floats((filters, channels // group, *kernel), special=False))
    b = draw(st.none() | floats((filters,), special=False))
    return [x, w, b], {"strides": strides, "pads": pads, "dilations": dilations, "group": group}


@settings(max_examples=60, deadline=None)
@given(convolutions())
def test_conv_equals_onnxruntime(case):
    operands, attributes = case
    expected = onnxruntime_node("Conv", operands, **attributes)
    np.testing.assert_allclose(run_ai(ai.ConvOp, *operands, **attributes), expected, rtol=1e-5, atol=1e-3)


def test_conv_by_hand():
    x = np.arange(4, dtype=np.float64).reshape(1, 1, 4)
    w = np.array([1.0, 10.0]).reshape(1, 1, 2)
    result = run_ai(ai.ConvOp, x, w, np.array([0.5]), pads=[1, 0], strides=[2])
    assert result.tolist() == [[[0.5, 21.5]]]  # windows (0, 0) and (1, 2)


def test_conv_of_an_empty_batch():
    result = run_ai(ai.ConvOp, np.zeros((0, 2, 5, 5), np.float32), np.zeros((3, 2, 3, 3), np.float32), None)
    assert result.shape == (0, 3, 3, 3)


def test_flops_count_a_multiply_add_as_two():
    assert ai.MatMulOp.flops(TensorType((7, 2, 3), "f32"), TensorType((3, 5), "f32"), acc="f32") == 2 * 7 * 2 * 3 * 5
    x, w, b = TensorType((1, 6, 8, 8), "f32"), TensorType((4, 3, 3, 3), "f32"), TensorType((4,), "f32")
    attributes = {"strides": [1, 1], "pads": [1] * 4, "dilations": [1, 1], "group": 2, "acc": "f32"}
    assert ai.ConvOp.flops(x, w, None, **attributes) == 2 * (4 * 8 * 8) * (3 * 3 * 3)
    assert ai.ConvOp.flops(x, w, b, **attributes) == 2 * (4 * 8 * 8) * (3 * 3 * 3) + 4 * 8 * 8


CONV = {"strides": [1, 1], "pads": [0] * 4, "dilations": [1, 1], "group": 1, "acc": "f32"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"strides": [0, 1]}, "strides must be 1 or more"),
        ({"strides": [1]}, "strides must have 2 numbers, but has 1"),
        ({"pads": [0, 0]}, "pads must have 4 numbers, but has 2"),
        ({"pads": [-1, 0, 0, 0]}, "pads must be 0 or more"),
        ({"dilations": [4, 1]}, "the window spans 9, but the padded input only 8"),
        ({"group": 3}, "in 3 groups"),
        ({"group": 0}, "group must be 1 or more"),
        ({"acc": "f16"}, "at least as wide as f32, but is f16"),
        ({"acc": "i32"}, "acc must be a float type"),
    ],
)
def test_conv_refuses_attributes(changed, message):
    x, w = TensorType((1, 2, 8, 8), "f32"), TensorType((4, 2, 3, 3), "f32")
    with pytest.raises(ValueError, match=message):
        ai.ConvOp.infer(x, w, None, **{**CONV, **changed})


@pytest.mark.parametrize(
    ("x", "w", "b", "message"),
    [
        ((1, 2, 8), (4, 2, 3, 3), None, "must have one rank"),
        ((1, 2), (4, 2), None, "1 to 3 spatial dimensions"),
        ((1, 2, 8, 8, 8, 8), (4, 2, 1, 1, 1, 1), None, "1 to 3 spatial dimensions"),
        ((1, 3, 8, 8), (4, 2, 3, 3), None, "3 input channels"),
        ((1, 2, 8, 8), (4, 2, 3, 3), (5,), r"bias must have the shape \[4\]"),
        ((1, 2, 8, 8), (4, 2, 3, 0), None, "kernel must be 1 or more"),
    ],
)
def test_conv_refuses_shapes(x, w, b, message):
    with pytest.raises(ValueError, match=message):
        ai.ConvOp.infer(TensorType(x, "f32"), TensorType(w, "f32"), b and TensorType(b, "f32"), **CONV)


@pytest.mark.parametrize(
    ("lhs", "rhs", "message"),
    [
        (TensorType((2, 3), "f32"), TensorType((4, 2), "f32"), "inner dimensions 3 and 4 differ"),
        (TensorType((3,), "f32"), TensorType((3, 2), "f32"), "rank 2 or more"),
        (TensorType((2, 2, 3), "f32"), TensorType((3, 3, 2), "f32"), "do not broadcast"),
        (TensorType((2, 3), "f32"), TensorType((3, 2), "f16"), "one element type"),
    ],
)
def test_matmul_refuses(lhs, rhs, message):
    with pytest.raises(ValueError, match=message):
        ai.MatMulOp.infer(lhs, rhs, acc="f32")


TRANSPOSED = [
    ((1, 2, 5), (2, 3, 4), 1, {"strides": [3]}),
    ((2, 4, 3, 5), (4, 3, 3, 2), 1, {"strides": [2, 1], "pads": [1, 0, 0, 1], "output_pads": [1, 0]}),
    ((2, 4, 3, 5), (4, 3, 3, 2), 2, {"strides": [1, 2], "dilations": [2, 3]}),
    ((1, 4, 3, 5), (4, 1, 2, 2), 4, {"strides": [2, 2]}),
    ((1, 2, 2, 3, 2), (2, 3, 2, 2, 3), 1, {"strides": [2, 1, 2], "pads": [1, 0, 1, 0, 1, 0]}),
]


@pytest.mark.parametrize(("shape", "kernel", "group", "attributes"), TRANSPOSED)
@pytest.mark.parametrize("biased", [False, True])
def test_conv_transpose_equals_onnxruntime(shape, kernel, group, attributes, biased):
    random = np.random.default_rng(0)
    x, weight = (random.standard_normal(s).astype(np.float32) for s in (shape, kernel))
    bias = random.standard_normal(kernel[1] * group).astype(np.float32) if biased else None
    renamed = {("output_padding" if name == "output_pads" else name): value for name, value in attributes.items()}
    expected = onnxruntime_node("ConvTranspose", [x, weight, bias], group=group, **renamed)
    result = run_ai(ai.ConvTransposeOp, x, weight, bias, group=group, **attributes)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({"strides": [0, 1]}, "strides must be 1 or more"),
        ({"pads": [1, 1]}, "pads must have 4 numbers"),
        ({"pads": [3, 0, 0, 0]}, "spatial dimension 0: nothing is left of 3 elements"),
        ({"group": 3}, r"4 input channels in 3 groups need whole groups"),
        ({"acc": "f16"}, "acc must be a float type at least as wide"),
    ],
)
def test_conv_transpose_errors(attributes, text):
    x, weight = TensorType((1, 4, 2, 2), "f32"), TensorType((4, 3, 2, 2), "f32")
    with pytest.raises(ValueError, match=text):
        ai.ConvTransposeOp.infer(x, weight, None, **{**ai.ConvTransposeOp.defaults(x, weight), **attributes})
