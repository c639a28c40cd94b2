"""Elementwise references. Oracles: ONNX Runtime; onnx.reference and hand-written values where it has no kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.dialects import ai
from aiopt.support.types import TensorType
from unit.dialects.oracle import onnx_reference_node, onnxruntime_node, run_ai
from unit.dialects.strategies import broadcastable, floats, integers, shapes

UNARY = {
    "Identity": ai.IdentityOp,
    "Neg": ai.NegOp,
    "Abs": ai.AbsOp,
    "Exp": ai.ExpOp,
    "Log": ai.LogOp,
    "Sqrt": ai.SqrtOp,
    "Tanh": ai.TanhOp,
    "Erf": ai.ErfOp,
    "Sigmoid": ai.SigmoidOp,
    "Relu": ai.ReluOp,
}
BINARY = {
    "Add": ai.AddOp,
    "Sub": ai.SubOp,
    "Mul": ai.MulOp,
    "Div": ai.DivOp,
    "Pow": ai.PowOp,
    "Max": ai.MaximumOp,
    "Min": ai.MinimumOp,
}


@pytest.mark.parametrize("op_type", UNARY)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_unary_equals_onnxruntime(op_type, data):
    x = data.draw(shapes().flatmap(floats))
    expected = onnxruntime_node(op_type, [x])
    np.testing.assert_allclose(run_ai(UNARY[op_type], x), expected, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("op_type", UNARY)
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_unary_keeps_float_types(op_type, dtype):
    x = np.linspace(0.1, 3, 24).reshape(2, 3, 4).astype(dtype)
    expected = onnx_reference_node(op_type, [x])
    exact = 1e-7 if op_type == "Erf" else 1e-12  # onnx.reference computes erf of f64 in f32
    tolerance = 2e-3 if dtype == "float16" else exact
    np.testing.assert_allclose(run_ai(UNARY[op_type], x), expected, rtol=tolerance)


@pytest.mark.parametrize("op_type", ["Neg", "Abs", "Relu", "Identity"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_unary_on_integers(op_type, dtype):
    x = np.array([np.iinfo(dtype).min, -3, 0, 5, np.iinfo(dtype).max], dtype)
    np.testing.assert_array_equal(run_ai(UNARY[op_type], x), onnx_reference_node(op_type, [x]))


@pytest.mark.parametrize("op_type", BINARY)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_binary_equals_onnxruntime(op_type, data):
    left, right = data.draw(broadcastable())
    lhs, rhs = data.draw(floats(left)), data.draw(floats(right))
    expected = onnxruntime_node(op_type, [lhs, rhs])
    np.testing.assert_allclose(run_ai(BINARY[op_type], lhs, rhs), expected, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Max", "Min"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_binary_integers_equal_onnxruntime(op_type, dtype, data):
    left, right = data.draw(broadcastable())
    lhs, rhs = data.draw(integers(left, dtype)), data.draw(integers(right, dtype))
    np.testing.assert_array_equal(run_ai(BINARY[op_type], lhs, rhs), onnxruntime_node(op_type, [lhs, rhs]))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_integer_division_rounds_toward_zero(data):
    left, right = data.draw(broadcastable())
    lhs = np.asarray(data.draw(integers(left)) // 2)  # away from the lowest integer over -1, which overflows
    rhs = data.draw(integers(right))
    rhs = np.asarray(np.where(rhs == 0, np.int32(7), rhs))
    np.testing.assert_array_equal(run_ai(ai.DivOp, lhs, rhs), onnxruntime_node("Div", [lhs, rhs]))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integer_division_that_processors_trap_at(dtype: str):
    """Oracle: Python's integers; the result of lowest / -1 is that of ONNX Runtime, which has none for x / 0."""
    info = np.iinfo(dtype)
    numbers = [info.min, info.min + 1, *({-7, -1} if info.min else ()), 0, 1, 7, info.max]
    lhs, rhs = (np.array(side, dtype) for side in zip(*((x, y) for x in numbers for y in numbers), strict=True))
    exact = [0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x in numbers for y in numbers]
    wrapped = [info.min if value > info.max else value for value in exact]
    assert run_ai(ai.DivOp, lhs, rhs).tolist() == wrapped


def test_integer_division_by_hand():
    lhs, rhs = np.array([7, -7, 7, -7, 6, -6], np.int8), np.array([2, 2, -2, -2, 3, 3], np.int8)
    assert run_ai(ai.DivOp, lhs, rhs).tolist() == [3, -3, -3, 3, 2, -2]
    unsigned = run_ai(ai.DivOp, np.array([250], np.uint8), np.array([7], np.uint8))
    assert unsigned.tolist() == [35]


def test_remainder_by_hand():
    lhs, rhs = np.float32([7.5, -7.5, 7.5, np.inf, 3, 3, 0]), np.float32([2, 2, -2, 2, 0, np.inf, 5])
    np.testing.assert_array_equal(run_ai(ai.RemainderOp, lhs, rhs), np.float32([1.5, -1.5, 1.5, np.nan, np.nan, 3, 0]))
    whole = run_ai(ai.RemainderOp, np.int8([7, -7, 7, -128, 5]), np.int8([3, 3, -3, -1, 0]))
    assert whole.tolist() == [1, -1, 1, 0, 0]


@pytest.mark.parametrize("op", [ai.MaximumOp, ai.MinimumOp])
def test_nan_wins_over_numbers(op):
    nan = np.float32(np.nan)
    lhs, rhs = np.array([nan, 1, nan], np.float32), np.array([1, nan, nan], np.float32)
    assert np.isnan(run_ai(op, lhs, rhs)).all()
    assert np.isnan(run_ai(ai.ReluOp, lhs)[0])


def test_large_arguments_give_limits_without_warnings():
    x = np.array([-1e4, 1e4, np.nan], np.float32)
    np.testing.assert_array_equal(run_ai(ai.SigmoidOp, x), np.array([0, 1, np.nan], np.float32))
    np.testing.assert_array_equal(run_ai(ai.ExpOp, x), np.array([0, np.inf, np.nan], np.float32))
    np.testing.assert_array_equal(run_ai(ai.LogOp, -x), np.array([np.log(1e4), np.nan, np.nan], np.float32))


CASTS = [("f32", "i32"), ("f32", "i1"), ("i1", "f32"), ("i64", "i8"), ("i32", "f64"), ("f64", "f16"), ("ui8", "i64")]


@pytest.mark.parametrize(("source", "target"), CASTS)
def test_cast_equals_onnxruntime(source, target):
    wide = np.array([-300.7, -1.5, -0.0, 0.0, 0.4, 2.5, 300.9])
    x = np.abs(wide).astype(np.uint8) if source == "ui8" else wide.astype(TensorType((), source).dtype)
    to = {"i32": 6, "i1": 9, "f32": 1, "i8": 3, "f64": 11, "f16": 10, "i64": 7}[target]
    np.testing.assert_array_equal(run_ai(ai.CastOp, x, to=target), onnxruntime_node("Cast", [x], to=to))


OUTSIDE = [300.0, -1.0, -129.5, 70000.0, 2.0**31, -(2.0**31), 3e9, -3e9, 2.0**32, 1e10, 2.0**63, -(2.0**63), 1.5e19]
OUTSIDE += [2.0**64, 1e30, -1e30, np.inf, -np.inf, np.nan]
CODES = {"i8": 3, "ui8": 2, "i16": 5, "ui16": 4, "i32": 6, "ui32": 12, "i64": 7, "ui64": 13}


@pytest.mark.parametrize("target", CODES)
@pytest.mark.parametrize("source", ["f32", "f64", "f16"])
def test_cast_of_what_is_out_of_range_equals_onnxruntime(source: str, target: str) -> None:
    """One by one: its vectors are as undefined as C says."""
    with np.errstate(over="ignore"):
        x = np.array(OUTSIDE).astype(TensorType((), source).dtype)
    want = [onnxruntime_node("Cast", [one.reshape(1)], to=CODES[target])[0] for one in x]
    np.testing.assert_array_equal(run_ai(ai.CastOp, x, to=target), np.array(want))


def test_flops_count_results():
    wide, row = TensorType((4, 1, 3), "f32"), TensorType((5, 1), "f32")
    assert ai.AddOp.flops(wide, row) == 4 * 5 * 3
    assert ai.ExpOp.flops(wide) == 12
    assert ai.CastOp.flops(wide, to="f16") == 12
    assert ai.IdentityOp.flops(wide) == 0
