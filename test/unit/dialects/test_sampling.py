"""gather and resize references. Oracles: ONNX Runtime, numpy, values by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from aiopt.dialects import ai
from aiopt.dialects.ai.sampling import ROUNDING
from aiopt.support.errors import IRError
from aiopt.support.types import TensorType
from unit.dialects.oracle import onnxruntime_node, run_ai
from unit.dialects.strategies import floats, shapes

IMAGE = np.random.default_rng(0).standard_normal((1, 2, 5, 7)).astype(np.float32)
COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]


@settings(max_examples=40, deadline=None)
@given(shapes(1, 4, 1).flatmap(floats), st.data())
def test_gather_equals_onnxruntime(x, data):
    axis = data.draw(st.integers(0, x.ndim - 1))
    size = x.shape[axis]
    indices = data.draw(hnp.arrays(np.int64, shapes(0, 2), elements=st.integers(-size, size - 1)))
    expected = onnxruntime_node("Gather", [x, indices], axis=axis)
    np.testing.assert_array_equal(run_ai(ai.GatherOp, x, indices, axis=axis), expected)


def test_gather_takes_the_nearest_slice_for_an_index_out_of_range():
    x = np.array([10, 20, 30])
    got = run_ai(ai.GatherOp, x, np.array([3, 99, -3, -4, -99, 2**63 - 1, -(2**63)]))
    assert got.tolist() == [30, 30, 10, 10, 10, 30, 10]


def test_gather_of_nothing():
    assert run_ai(ai.GatherOp, np.zeros((0, 3), np.float32), np.zeros((2, 0), np.int32)).shape == (2, 0, 3)
    with pytest.raises(IRError, match=r"ai\.gather: axis 0 has no element to take"):
        ai.GatherOp.infer_types(TensorType((0, 3), "f32"), TensorType((1,), "i64"), axis=0)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("shape", [(10, 14), (5, 21), (3, 2), (1, 3), (8, 5)])
def test_resize_equals_onnxruntime(mode, coordinates, shape):
    sizes = np.array([1, 2, *shape], np.int64)
    names = {"mode": mode, "coordinate_transformation_mode": coordinates}
    for rounding in ROUNDING if mode == "nearest" else ["floor"]:
        expected = onnxruntime_node("Resize", [IMAGE, None, None, sizes], nearest_mode=rounding, **names)
        result = run_ai(ai.ResizeOp, IMAGE, shape=sizes.tolist(), mode=mode, coordinates=coordinates, rounding=rounding)
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_resize_by_hand():
    """Twice as many: half_pixel positions are -1/4, 1/4, 3/4, 5/4."""
    x = np.array([1, 5], np.float32)
    assert run_ai(ai.ResizeOp, x, shape=[4]).tolist() == [1, 1, 5, 5]
    assert run_ai(ai.ResizeOp, x, shape=[4], mode="linear").tolist() == [1, 2, 4, 5]
    assert run_ai(ai.ResizeOp, np.array([1, 5]), shape=[4], mode="linear").tolist() == [1, 2, 4, 5]


def test_resize_uses_the_exact_ratio():
    """By hand: one of 7 stands for position 0.5 * 7 - 0.5 = 3. ONNX Runtime divides by 1 / 7 in f32, gets
    2.9999998 and takes element 2."""
    x = np.arange(7, dtype=np.float32)
    for rounding in ROUNDING:
        assert run_ai(ai.ResizeOp, x, shape=[1], rounding=rounding).tolist() == [3]


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({"shape": [4, 4]}, "shape must have 1 numbers"),
        ({"shape": [0]}, "a dimension of 0 stays 0, and no other becomes 0"),
        ({"shape": [4], "scales": [0.0]}, "scales must be above 0"),
        ({"shape": [4], "mode": "cubic"}, "mode must be one of nearest, linear, but is 'cubic'"),
        ({"shape": [4], "coordinates": "centre"}, "coordinates must be one of half_pixel"),
        ({"shape": [4], "rounding": "up"}, "rounding must be one of"),
    ],
)
def test_resize_errors(attributes, text):
    x = TensorType((2,), "f32")
    with pytest.raises(IRError, match=text):
        ai.ResizeOp.infer_types(x, **{**ai.ResizeOp.defaults(x, **attributes), **attributes})
