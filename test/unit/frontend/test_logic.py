"""Comparisons, truth values, Where. Oracle: ONNX Runtime, unless a test names another."""

import numpy as np
import pytest

from aiopt.support.errors import ModelError
from unit.frontend.single_node import check, f32, i64, node_model, run

ODD = {
    "a": np.float32([1, np.nan, np.inf, 0.0, 3, -2]),
    "b": np.float32([1, np.nan, np.inf, -0.0, 2, np.nan]),
}
FLAGS = {"a": np.array([True, True, False, False]), "b": np.array([[True, False, True, False], [True] * 4])}


@pytest.mark.parametrize("opset", [7, 11, 13, 19])
def test_equal_of_integers(opset: int) -> None:
    check("Equal", {"a": i64(1, 2, 3), "b": i64(1, 5, 3)}, opset)
    check("Equal", {"a": np.arange(6, dtype=np.int32).reshape(2, 3), "b": np.int32([0, 1, 5])}, opset)


def test_equal_of_bools() -> None:
    check("Equal", FLAGS, 7)


def test_equal_takes_floats_from_opset_11_on() -> None:
    check("Equal", ODD, 11)
    check("Equal", ODD, 19)


@pytest.mark.parametrize("op_type", ["Less", "Greater"])
@pytest.mark.parametrize("opset", [7, 9, 13])
def test_order(op_type: str, opset: int) -> None:
    check(op_type, ODD, opset)
    check(op_type, {"a": f32(2, 1, 3), "b": f32(4, 1, seed=1)}, opset)


@pytest.mark.parametrize("op_type", ["Less", "Greater"])
def test_order_of_integers_came_with_opset_9(op_type: str) -> None:
    check(op_type, {"a": i64(-5, 3, 3), "b": i64(4, 3, -1)}, 9)


@pytest.mark.parametrize("op_type", ["LessOrEqual", "GreaterOrEqual"])
@pytest.mark.parametrize("opset", [12, 16])
def test_order_or_equal(op_type: str, opset: int) -> None:
    check(op_type, ODD, opset)
    check(op_type, {"a": i64(-5, 3, 3), "b": i64(4, 3, -1)}, opset)
    unsigned = {"a": np.uint8([200, 3, 3]), "b": np.uint8([4, 200, 3])}
    check(op_type, unsigned, opset, oracle="onnx.reference")


@pytest.mark.parametrize("op_type", ["And", "Or", "Xor"])
def test_two_truth_values(op_type: str) -> None:
    check(op_type, FLAGS, 7)


def test_not() -> None:
    check("Not", {"a": FLAGS["a"]}, 7)


@pytest.mark.parametrize("opset", [9, 16])
def test_where(opset: int) -> None:
    flags = np.array([[True], [False]])
    check("Where", {"c": flags, "a": f32(3), "b": f32(4, 1, 1, seed=1)}, opset)
    check("Where", {"c": flags, "a": i64(1, 2), "b": i64(7)}, opset)
    check("Where", {"c": flags, "a": FLAGS["a"], "b": FLAGS["a"][::-1].copy()}, opset, oracle="onnx.reference")


def test_errors() -> None:
    with pytest.raises(
        ModelError, match=r"input 1 \('b'\) has elements of type i64, but must have those of input 0: f32"
    ):
        run(node_model("Less", {"a": f32(3), "b": i64(1, 2, 3)}, 13), {})
    with pytest.raises(ModelError, match="do not broadcast"):
        run(node_model("Where", {"c": np.array([True] * 3), "a": f32(2), "b": f32(2)}, 16), {})
    with pytest.raises(ModelError, match=r"input 0 \('a'\) has elements of type f32; the operator takes bool there"):
        run(node_model("And", {"a": f32(3), "b": f32(3)}, 7), {})
    with pytest.raises(ModelError, match=r"input 0 \('c'\) has elements of type f32; the operator takes bool there"):
        run(node_model("Where", {"c": f32(2), "a": f32(2), "b": f32(2)}, 16), {})
