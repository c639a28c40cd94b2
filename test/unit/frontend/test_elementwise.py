"""Elementwise operators. Oracle: ONNX Runtime, unless a test names another."""

from typing import Any

import numpy as np
import pytest
from onnx import helper

from aiopt.support.errors import ModelError, UnsupportedError
from aiopt.support.types import numpy_dtype
from unit.frontend.single_node import check, f32, node_model, run

X, POSITIVE = f32(2, 3, 4), np.abs(f32(2, 3, 4)) + 0.1
INFINITE = np.array([-np.inf, -2, -0.0, 0, 0.5, 7, np.inf, np.nan], np.float32)


@pytest.mark.parametrize("opset", [7, 13, 20])
@pytest.mark.parametrize("op_type", ["Abs", "Exp", "Identity", "Neg", "Relu", "Sigmoid", "Tanh", "Reciprocal"])
def test_unary(op_type: str, opset: int) -> None:
    check(op_type, {"x": X}, opset)


@pytest.mark.parametrize("op_type", ["Log", "Sqrt"])
def test_unary_of_positive(op_type: str) -> None:
    check(op_type, {"x": POSITIVE}, 13)


@pytest.mark.parametrize("opset", [9, 13])
def test_erf(opset: int) -> None:
    check("Erf", {"x": X}, opset)


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize(("lhs", "rhs"), [((2, 3, 4), (4,)), ((3, 1), (2, 1, 5)), ((), (2, 2)), ((2, 2), (2, 2))])
@pytest.mark.parametrize("opset", [7, 14])
def test_binary_broadcasts(op_type: str, lhs: tuple[int, ...], rhs: tuple[int, ...], opset: int) -> None:
    check(op_type, {"a": f32(*lhs), "b": f32(*rhs, seed=1)}, opset)


def test_integer_division_rounds_toward_zero() -> None:
    check("Div", {"a": np.array([7, -7, 7, -7], np.int64), "b": np.array([2, 2, -2, -2], np.int64)}, 14)


@pytest.mark.parametrize(
    ("base", "exponent"),
    [
        (POSITIVE, f32(4)),
        (POSITIVE, np.array(2, np.int64)),
        (np.array([1, 2, 3], np.int32), np.array([2, 0, 3], np.int32)),
        (np.array([1, 2, 3], np.int64), np.array(0.5, np.float32)),
    ],
)
def test_pow(base: np.ndarray, exponent: np.ndarray) -> None:
    check("Pow", {"a": base, "b": exponent}, 13)


def test_pow_of_one_type_before_12() -> None:
    check("Pow", {"a": POSITIVE, "b": f32(3, 1)}, 7)


@pytest.mark.parametrize("op_type", ["Max", "Min", "Sum"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("opset", [8, 13])
def test_variadic(op_type: str, count: int, opset: int) -> None:
    check(op_type, {f"x{i}": f32(3, 4 if i else 1, seed=i) for i in range(count)}, opset)


@pytest.mark.parametrize("opset", [9, 13, 19])
@pytest.mark.parametrize(
    ("array", "to"),
    [
        (f32(5) * 3, np.int64),
        (f32(5), np.float64),
        (f32(5), np.float16),
        (np.array([0, 1, -2], np.int32), np.bool_),
        (np.array([True, False]), np.float32),
        (np.array([1, 200, 255], np.uint8), np.int32),
    ],
)
def test_cast(array: np.ndarray, to: type, opset: int) -> None:
    check("Cast", {"x": array}, opset, to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))


@pytest.mark.parametrize("attributes", [{"min": -0.5}, {"max": 0.25}, {"min": -0.5, "max": 0.25}, {}])
@pytest.mark.parametrize("opset", [7, 10])
def test_clip_by_attributes(attributes: dict[str, float], opset: int) -> None:
    check("Clip", {"x": X}, opset, **attributes)


@pytest.mark.parametrize("bounds", [(-0.5, None), (None, 0.25), (-0.5, 0.25), (None, None), (0.5, -0.5)])
@pytest.mark.parametrize("opset", [11, 13])
def test_clip_by_inputs(bounds: tuple[float | None, float | None], opset: int) -> None:
    low, high = (None if bound is None else np.array(bound, np.float32) for bound in bounds)
    check("Clip", [("x", X), ("low", low), ("high", high)], opset, known=["low", "high"])


def test_clip_bounds_at_run_time() -> None:
    check("Clip", {"x": X, "low": np.array(-1, np.float32), "high": np.array(1, np.float32)}, 13)


def test_clip_of_integers() -> None:
    check("Clip", [("x", np.arange(-4, 4)), ("low", np.array(-2)), ("high", None)], 12)


def test_clip_without_bounds_ends_at_the_largest_finite_number() -> None:
    # By hand from the operator's text (Clip-6, Clip-13): an absent bound is numeric_limits::lowest() or max().
    inputs = {"x": np.array([np.inf, -np.inf, 1], np.float32)}
    limits = np.finfo(np.float32)
    for opset in (7, 13):
        (have,) = run(node_model("Clip", inputs, opset), inputs).values()
        np.testing.assert_array_equal(have, np.array([limits.max, limits.min, 1], np.float32))


def test_clip_takes_a_list_of_one_as_bound() -> None:
    # By hand: ONNX Runtime refuses it, exporters write it.
    inputs = {"x": np.array(3, np.float32), "low": np.array([4], np.float32)}
    (have,) = run(node_model("Clip", inputs, 13, known=["low"]), inputs).values()
    assert have.shape == ()
    assert have == 4


def test_clip_refuses_a_bound_that_is_no_scalar() -> None:
    with pytest.raises(ModelError, match=r"node 'the_node' \(Clip, opset 13.*\): input 1 must be a scalar.*\[2\]"):
        run(node_model("Clip", {"x": X, "low": f32(2)}, 13), {})


@pytest.mark.parametrize(
    ("op_type", "attributes", "opset"),
    [
        ("LeakyRelu", {}, 7),
        ("LeakyRelu", {"alpha": 0.3}, 16),
        ("LeakyRelu", {"alpha": -0.5}, 16),
        ("LeakyRelu", {"alpha": 2.0}, 16),
        ("HardSigmoid", {}, 7),
        ("HardSigmoid", {"alpha": 0.3, "beta": 0.1}, 13),
        ("HardSwish", {}, 14),
    ],
)
def test_activations(op_type: str, attributes: dict[str, float], opset: int) -> None:
    check(op_type, {"x": 3 * X}, opset, tolerance=2e-6, **attributes)


def test_leaky_relu_of_infinities() -> None:
    check("LeakyRelu", {"x": INFINITE}, 16, alpha=0.1)


@pytest.mark.parametrize("opset", [7, 10])
def test_dropout_by_attribute(opset: int) -> None:
    check("Dropout", {"x": X}, opset, ratio=0.5)


@pytest.mark.parametrize("inputs", [[], [("ratio", np.array(0.5, np.float32))]])
def test_dropout_by_inputs(inputs: list[tuple[str, Any]]) -> None:
    check("Dropout", [("x", X), *inputs], 13, known=["ratio"])


def test_dropout_in_training_mode_is_refused() -> None:
    inputs = [("x", X), ("ratio", np.array(0.5, np.float32)), ("mode", np.array(True))]
    with pytest.raises(UnsupportedError, match="training_mode is true"):
        run(node_model("Dropout", inputs, 13, known=["ratio", "mode"]), {"x": X})
    with pytest.raises(UnsupportedError, match="training_mode, 'mode'.*must be known when compiling"):
        run(node_model("Dropout", inputs, 13), {"x": X})


def test_element_types_are_checked() -> None:
    """What ONNX allows and aiopt does not have; what ONNX does not allow is in test_schema.py."""
    with pytest.raises(UnsupportedError, match="ai.matmul takes a tensor of floats as lhs, not 2x2xi32"):
        run(node_model("MatMul", {"x": np.ones((2, 2), np.int32), "y": np.ones((2, 2), np.int32)}, 13), {})


def test_shapes_that_do_not_broadcast_name_the_node() -> None:
    with pytest.raises(ModelError, match=r"node 'the_node' \(Add, opset 13.*\): ai.add: .*broadcast"):
        run(node_model("Add", {"a": f32(2), "b": f32(3)}, 13), {})


def test_cast_to_a_type_aiopt_does_not_have() -> None:
    with pytest.raises(UnsupportedError, match="the result has elements of type FLOAT8E4M3FN"):
        run(node_model("Cast", {"x": X}, 19, to=17), {})
    with pytest.raises(ModelError, match="element type 99, which is none of ONNX"):
        run(node_model("Cast", {"x": X}, 13, to=99), {})


def test_bfloat16_in_known_tensors_inputs_and_casts() -> None:
    """Oracle: onnx.reference, whose bfloat16 is that of ml_dtypes."""
    low = numpy_dtype("bf16")
    x, w = f32(3, 4).astype(low), f32(4, seed=1).astype(low)
    check("Add", {"x": x, "w": w}, 14, known=["w"], oracle="onnx.reference")
    check("Cast", {"x": x}, 13, oracle="onnx.reference", to=1)
    check("Cast", {"x": f32(3, 4)}, 13, oracle="onnx.reference", to=16)
    clipped = run(node_model("Clip", {"x": x}, 13), {"x": x})["y0"]
    np.testing.assert_array_equal(clipped.astype(np.float32), x.astype(np.float32))
