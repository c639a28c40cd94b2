"""References of pad, scatter and running totals. Oracles: numpy.pad, numpy's ufunc.at, sums by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.dialects import ai
from aiopt.dialects.ai.padding import PAD_MODES
from aiopt.support.errors import IRError
from aiopt.support.types import TensorType
from unit.dialects.oracle import run_ai

MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("mode", PAD_MODES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_pad_equals_numpy(mode: str, data: st.DataObject):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    low, high = ([data.draw(st.integers(0, 9)) for _ in shape] for _ in range(2))
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    expected = np.pad(x, list(zip(low, high, strict=True)), mode=mode)  # pyright: ignore[reportCallIssue]
    np.testing.assert_array_equal(run_ai(ai.PadOp, x, low=low, high=high, mode=mode), expected)


def test_pad_with_a_value():
    out = run_ai(ai.PadOp, MATRIX[:1, :2], np.array(7, np.float32), low=[1, 0], high=[0, 1], mode="constant")
    assert out.tolist() == [[7, 7, 7], [0, 1, 7]]


@pytest.mark.parametrize(
    ("how", "fold"), [("add", np.add), ("mul", np.multiply), ("max", np.maximum), ("min", np.minimum)]
)
def test_scatter_equals_numpy(how: str, fold: np.ufunc):
    indices, updates = np.array([2, 0, -1, 2]), np.linspace(-5, 5, 16, dtype=np.float32).reshape(4, 4)
    expected = MATRIX.copy()
    fold.at(expected, indices, updates)
    np.testing.assert_array_equal(run_ai(ai.ScatterOp, MATRIX, indices, updates, reduction=how), expected)


def test_scatter_in_order_and_outside():
    out = run_ai(ai.ScatterOp, np.zeros(3, np.int8), np.array([1, 1, 3, -4, 0]), np.int8([5, 6, 7, 8, 9]))
    assert out.tolist() == [9, 6, 0]


def test_running_totals():
    assert run_ai(ai.CumSumOp, np.int8([100, 100, 1]), axis=0).tolist() == [100, -56, -55]
    np.testing.assert_array_equal(run_ai(ai.CumSumOp, MATRIX, axis=0), np.add.accumulate(MATRIX, 0))
    np.testing.assert_array_equal(run_ai(ai.CumProdOp, MATRIX, axis=1), np.multiply.accumulate(MATRIX, 1))


def kind(*shape: int, element: str = "f32") -> TensorType:
    return TensorType(shape, element)


@pytest.mark.parametrize(
    ("op", "types", "attributes", "text"),
    [
        (ai.PadOp, [kind(2)], {"low": [1, 1], "high": [0], "mode": "edge"}, "low must have 1 numbers, but has 2"),
        (ai.PadOp, [kind(2)], {"low": [-1], "high": [0], "mode": "edge"}, "low must be 0 or more"),
        (ai.PadOp, [kind(2)], {"low": [1], "high": [0], "mode": "best"}, "mode must be one of .*, not 'best'"),
        (ai.PadOp, [kind(2), kind()], {"low": [1], "high": [0], "mode": "edge"}, "value must be a scalar"),
        (ai.PadOp, [kind(2), kind(1)], {"low": [1], "high": [0], "mode": "constant"}, "value must be a scalar of f32"),
        (ai.PadOp, [kind(0)], {"low": [1], "high": [0], "mode": "wrap"}, "nothing to repeat"),
        (ai.ScatterOp, [kind(3, 2), kind(2, element="i64"), kind(2)], {"reduction": "none"}, "must fit, but are"),
        (ai.ScatterOp, [kind(3), kind(2, element="i64"), kind(2)], {"reduction": "avg"}, "not 'avg'"),
        (ai.CumSumOp, [kind(3)], {"axis": 1}, "axis 1 is out of range"),
    ],
)
def test_what_does_not_fit(op, types, attributes, text):
    with pytest.raises(IRError, match=text):
        op.infer_types(*types, **attributes)


def test_bools_cannot_be_added():
    flags = kind(3, element="i1")
    with pytest.raises(IRError, match="bools cannot be combined by add"):
        ai.ScatterOp.infer_types(flags, kind(1, element="i64"), kind(1, element="i1"), reduction="add")
