"""Reduction references. Oracles: ONNX Runtime; NaN and empty axes by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.dialects import ai
from aiopt.support.types import TensorType
from unit.dialects.oracle import onnxruntime_node, run_ai
from unit.dialects.strategies import floats, integers, shapes

OPS = {
    "ReduceSum": ai.ReduceSumOp,
    "ReduceMean": ai.ReduceMeanOp,
    "ReduceMax": ai.ReduceMaxOp,
    "ReduceMin": ai.ReduceMinOp,
}


def _expected(op_type: str, x: np.ndarray, axes: list[int], keepdims: bool) -> np.ndarray:
    operands = [x, np.array(axes, np.int64)]
    return onnxruntime_node(op_type, operands, keepdims=int(keepdims), noop_with_empty_axes=1)


@pytest.mark.parametrize("op_type", OPS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_reductions_equal_onnxruntime(op_type, data):
    x = data.draw(shapes(0, 4, 1).flatmap(lambda shape: floats(shape, special=False)))
    axes = sorted(data.draw(st.sets(st.sampled_from(range(x.ndim))))) if x.ndim else []
    keepdims = data.draw(st.booleans())
    result = run_ai(OPS[op_type], x, axes=axes, keepdims=keepdims)
    np.testing.assert_allclose(result, _expected(op_type, x, axes, keepdims), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("op_type", ["ReduceSum", "ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_integer_reductions_equal_onnxruntime(op_type, dtype, data):
    x = data.draw(shapes(1, 3, 1).flatmap(lambda shape: integers(shape, dtype)))
    axes = sorted(data.draw(st.sets(st.sampled_from(range(x.ndim)), min_size=1)))
    if op_type == "ReduceSum":  # ONNX Runtime sums i64 in f64 and is exact below 2^53 only; wrapping has its own test
        x = x >> 20
    result = run_ai(OPS[op_type], x, axes=axes, keepdims=False)
    np.testing.assert_array_equal(result, _expected(op_type, x, axes, False))


def test_integer_sums_wrap():
    assert run_ai(ai.ReduceSumOp, np.array([100, 100], np.int8), axes=[0], keepdims=False).item() == -56


@pytest.mark.parametrize("op", OPS.values())
def test_nan_propagates(op):
    x = np.array([[1, np.nan], [3, 4]], np.float32)
    result = run_ai(op, x, axes=[1], keepdims=False)
    assert np.isnan(result).tolist() == [True, False]


def test_neutral_elements_of_nothing():
    x = np.zeros((2, 0), np.float32)
    assert run_ai(ai.ReduceSumOp, x, axes=[1], keepdims=False).tolist() == [0, 0]
    assert run_ai(ai.ReduceMaxOp, x, axes=[1], keepdims=False).tolist() == [-np.inf, -np.inf]
    assert run_ai(ai.ReduceMinOp, x, axes=[1], keepdims=False).tolist() == [np.inf, np.inf]
    assert np.isnan(run_ai(ai.ReduceMeanOp, x, axes=[1], keepdims=False)).all()
    none = x.astype(np.int8)
    assert run_ai(ai.ReduceMaxOp, none, axes=[1], keepdims=True).tolist() == [[-128], [-128]]
    assert run_ai(ai.ReduceMinOp, none, axes=[1], keepdims=True).tolist() == [[127], [127]]


def test_f16_is_summed_in_f32():
    x = np.full(4096, 20, np.float16)
    assert run_ai(ai.ReduceMeanOp, x, axes=[0], keepdims=False).item() == 20  # the sum, 81920, is infinite in f16


@pytest.mark.parametrize("op", OPS.values())
@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ([2], "axis 2 is out of range for rank 2"),
        ([-1], "axis -1 is out of range"),
        ([1, 0], "axes must rise strictly"),
        ([1, 1], "axes must rise strictly"),
    ],
)
def test_axes_are_checked(op, axes, message):
    with pytest.raises(ValueError, match=message):
        op.infer(TensorType((2, 3), "f32"), axes=axes, keepdims=True)


def test_flops_count_operand_elements():
    assert ai.ReduceMaxOp.flops(TensorType((2, 3, 4), "f32"), axes=[1], keepdims=False) == 24
