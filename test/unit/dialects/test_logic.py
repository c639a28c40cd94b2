"""References of comparisons, truth values and select. Oracles: ONNX Runtime; numpy where it has no kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from aiopt.dialects import ai
from aiopt.support.errors import IRError
from aiopt.support.types import TensorType
from unit.dialects.oracle import onnxruntime_node, run_ai
from unit.dialects.strategies import broadcastable, floats, integers

COMPARISONS = {"Equal": ai.EqualOp, "Less": ai.LessOp, "LessOrEqual": ai.LessEqualOp}
TRUTH = {"And": ai.AndOp, "Or": ai.OrOp, "Xor": ai.XorOp}


@pytest.mark.parametrize("op_type", COMPARISONS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_comparisons_equal_onnxruntime(op_type, data):
    """NaN, infinities and both zeros are among the floats."""
    left, right = data.draw(broadcastable())
    for draw in (floats, integers):
        lhs, rhs = data.draw(draw(left)), data.draw(draw(right))
        np.testing.assert_array_equal(run_ai(COMPARISONS[op_type], lhs, rhs), onnxruntime_node(op_type, [lhs, rhs]))


@pytest.mark.parametrize("op_type", TRUTH)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_truth_values_equal_onnxruntime(op_type, data):
    lhs, rhs = (data.draw(hnp.arrays(bool, shape)) for shape in data.draw(broadcastable()))
    np.testing.assert_array_equal(run_ai(TRUTH[op_type], lhs, rhs), onnxruntime_node(op_type, [lhs, rhs]))
    np.testing.assert_array_equal(run_ai(ai.NotOp, lhs), onnxruntime_node("Not", [lhs]))


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_select_equals_onnxruntime(data):
    first, second, third = data.draw(broadcastable(3))
    operands = [data.draw(hnp.arrays(bool, first)), data.draw(floats(second)), data.draw(floats(third))]
    np.testing.assert_array_equal(run_ai(ai.SelectOp, *operands), onnxruntime_node("Where", operands))


def test_types_are_checked():
    flags, numbers = TensorType((2,), "i1"), TensorType((2,), "f32")
    with pytest.raises(IRError, match=r"ai\.less: the operands must have one element type \(lhs: i1, rhs: f32\)"):
        ai.LessOp.infer_types(flags, numbers)
    with pytest.raises(IRError, match=r"on_true: f32, on_false: i1"):
        ai.SelectOp.infer_types(flags, numbers, flags)
    with pytest.raises(IRError, match="do not broadcast"):
        ai.SelectOp.infer_types(flags, numbers, TensorType((3,), "f32"))
