"""Quantised and integer operators of ONNX. Oracle: ONNX Runtime, bit for bit, unless a case names another."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto

from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import NAME, check, imported, node_model, run

f32 = np.float32
_random = np.random.default_rng(0)
X = _random.normal(0, 40, (2, 6, 5)).astype(f32)


def _integers(dtype: type, *shape: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    return _random.integers(limits.min, limits.max + 1, shape).astype(dtype)


def _signed(*shape: int) -> np.ndarray:
    """i8 in 7 bits, right factors of u8: with AVX2 ONNX Runtime adds pairs of their products in 16 bits, saturating."""
    return _random.integers(-64, 64, shape).astype(np.int8)


def _scales(*shape: int) -> np.ndarray:
    return _random.uniform(0.01, 0.9, shape).astype(f32)


def _exact(op_type: str, inputs: dict[str, np.ndarray | None], opset: int, **attributes) -> None:
    operands = [(name, None if array is None else np.asarray(array)) for name, array in inputs.items()]
    check(op_type, operands, opset, tolerance=0, **attributes)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("opset", [10, 13, 19, 21, 23, 25])
def test_one_scale(opset: int, dtype: type) -> None:
    _exact("QuantizeLinear", {"x": X, "s": f32(0.3), "z": dtype(5)}, opset)
    _exact("DequantizeLinear", {"x": _integers(dtype, 3, 4), "s": f32(0.3), "z": dtype(5)}, opset)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_what_has_no_place_in_the_type_goes_to_its_ends(dtype: type) -> None:
    x = np.float32([np.inf, -np.inf, 3e38, -3e38, 3e9, np.nan, 0.5, 1.5, -0.5, -1.5, 2.5])
    for scale in (1.0, 1e-45, 1e38, -1.0, np.inf):
        _exact("QuantizeLinear", {"x": x, "s": f32(scale), "z": dtype(3)}, 21)


def test_without_zero_point() -> None:
    _exact("QuantizeLinear", {"x": X, "s": f32(0.3)}, 13)
    _exact("DequantizeLinear", {"x": _integers(np.int32, 3, 4), "s": f32(0.3)}, 13)
    _exact("QuantizeLinear", {"x": X, "s": f32(0.3)}, 21, output_dtype=TensorProto.INT16)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_one_scale_per_index_of_an_axis(axis: int | None) -> None:
    count = X.shape[1 if axis is None else axis]
    given = {} if axis is None else {"axis": axis}
    _exact("QuantizeLinear", {"x": X, "s": _scales(count), "z": _integers(np.int8, count)}, 13, **given)
    x = _integers(np.uint8, *X.shape)
    _exact("DequantizeLinear", {"x": x, "s": _scales(count), "z": _integers(np.uint8, count)}, 13, **given)


@pytest.mark.parametrize(("axis", "block", "blocks"), [(1, 3, 2), (1, 4, 2), (0, 2, 1), (-1, 2, 3), (2, 5, 1)])
def test_blocks(axis: int, block: int, blocks: int) -> None:
    shape = list(X.shape)
    shape[axis] = blocks
    scale, attributes = _scales(*shape), {"axis": axis, "block_size": block}
    _exact("QuantizeLinear", {"x": X, "s": scale, "z": _integers(np.int16, *shape)}, 21, **attributes)
    x = _integers(np.int8, *X.shape)
    _exact("DequantizeLinear", {"x": x, "s": scale, "z": _integers(np.int8, *shape)}, 21, **attributes)


def test_f16_is_divided_in_f32_before_opset_23() -> None:
    x = _random.normal(0, 400, (3, 50)).astype(np.float16)
    _exact("QuantizeLinear", {"x": x, "s": np.float16(0.1), "z": np.int16(0)}, 21)
    _exact("DequantizeLinear", {"x": _integers(np.int8, 50), "s": np.float16(0.1), "z": np.int8(3)}, 21)


@pytest.mark.parametrize(
    ("scale", "precision", "want"),
    [
        (np.float16(0.1), None, 20480),
        (np.float16(0.1), TensorProto.FLOAT, 20485),
        (f32(np.float16(0.1)), TensorProto.FLOAT16, 20480),
    ],
)
def test_the_division_has_the_type_of_the_scale_or_of_precision(scale, precision: int | None, want: int) -> None:
    """2048 / 0.1 in f16 is 20485.0 in f32, and the nearest f16 is 20480."""
    inputs = {"x": np.float16([2048, -3]), "s": np.asarray(scale), "z": np.asarray(np.int16(0))}
    given = {} if precision is None else {"precision": precision}
    (y,) = run(node_model("QuantizeLinear", inputs, 23, **given), inputs).values()
    assert list(y) == [want, -30]
    x = _random.normal(0, 400, (3, 50)).astype(np.float16)
    _exact("QuantizeLinear", {**inputs, "x": x}, 23, **given)


def test_integers_are_divided_in_the_type_of_the_scale() -> None:
    """By hand: ONNX Runtime does not take them."""
    inputs = {"x": np.int32([7, -3, 2**31 - 1]), "s": np.asarray(f32(0.5)), "z": np.asarray(np.uint8(3))}
    (y,) = run(node_model("QuantizeLinear", inputs, 23), inputs).values()
    assert y.tolist() == [17, 0, 255]


def test_output_type_of_dequantize() -> None:
    """By hand: the product is computed in f32 and rounded to the type asked for."""
    x, scale = _integers(np.uint8, 40), f32(0.37)
    inputs = {"x": x, "s": np.asarray(scale)}
    model = node_model("DequantizeLinear", inputs, 23, output_dtype=TensorProto.FLOAT16)
    (y,) = run(model, inputs).values()
    np.testing.assert_array_equal(y, (x.astype(f32) * scale).astype(np.float16), strict=True)


@pytest.mark.parametrize(
    "x",
    [X, X + 500, X - 500, np.zeros((2, 3), f32), np.float32([[1e-30, -1e-30]]), np.float32(7.0)],
    ids=["around_0", "above", "below", "zeros", "tiny", "scalar"],
)
def test_dynamic(x: np.ndarray) -> None:
    _exact("DynamicQuantizeLinear", {"x": x}, 11, outputs=3)


@pytest.mark.parametrize(
    ("a", "b"), [((3, 7), (7, 5)), ((7,), (7,)), ((2, 3, 7), (7, 5)), ((7,), (4, 7, 5)), ((2, 1, 3, 7), (4, 7, 5))]
)
def test_matmul_integer(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    lhs, rhs = _integers(np.uint8, *a), _signed(*b)
    _exact("MatMulInteger", {"a": lhs, "b": rhs}, 10)
    _exact("MatMulInteger", {"a": lhs, "b": rhs, "az": np.uint8(130), "bz": np.int8(-3)}, 10)


def test_matmul_integer_by_column() -> None:
    lhs, rhs = _integers(np.uint8, 3, 7), _signed(7, 5)
    zeros = {"az": np.uint8(3), "bz": _integers(np.int8, 5)}
    _exact("MatMulInteger", {"a": lhs, "b": rhs, **zeros}, 10)


def test_matmul_integer_by_row() -> None:
    """By hand: ONNX Runtime takes one zero point for A."""
    inputs = {"a": _integers(np.uint8, 3, 7), "b": _integers(np.int8, 7, 5), "az": _integers(np.uint8, 3)}
    (y,) = run(node_model("MatMulInteger", inputs, 10), inputs).values()
    want = (inputs["a"].astype(np.int32) - inputs["az"][:, None]) @ inputs["b"].astype(np.int32)
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("kinds", [(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)])
def test_qlinear_matmul(kinds: tuple[type, type], columns: bool) -> None:
    left, right = kinds
    a, b = _integers(left, 2, 9, 33), _signed(33, 12) if left != right else _integers(right, 33, 12)
    b_scale, b_zero = (_scales(12), _integers(right, 12)) if columns else (f32(0.02), right(4))
    y = {"ys": f32(0.9), "yz": left(7)}
    inputs = {"a": a, "as": f32(0.03), "az": left(100), "b": b, "bs": b_scale, "bz": b_zero, **y}
    _exact("QLinearMatMul", inputs, 10)


@pytest.mark.parametrize(
    ("weight", "attributes"),
    [
        ((6, 4, 3, 3), {}),
        ((6, 4, 3, 2), {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
        ((4, 1, 3, 3), {"group": 4, "pads": [1, 1, 1, 1]}),
        ((6, 2, 3, 3), {"group": 2, "dilations": [2, 1]}),
        ((6, 4, 3, 3), {"auto_pad": "SAME_LOWER"}),
    ],
)
@pytest.mark.parametrize("channels", [False, True])
def test_convolutions(weight: tuple[int, ...], attributes: dict, channels: bool) -> None:
    """The padding stands for 0: it is the zero point."""
    x, w, count = _integers(np.uint8, 2, 4, 9, 8), _signed(*weight), weight[0]
    w_scale, w_zero = (_scales(count), np.zeros(count, np.int8)) if channels else (f32(0.01), np.int8(0))
    _exact("ConvInteger", {"x": x, "w": w, "xz": np.uint8(120)}, 10, **attributes)
    bias = _random.integers(-5000, 5000, count).astype(np.int32)
    inputs = {"x": x, "xs": f32(0.03), "xz": np.uint8(120), "w": w, "ws": w_scale, "wz": w_zero}
    _exact("QLinearConv", {**inputs, "ys": f32(0.7), "yz": np.uint8(9), "b": bias}, 10, **attributes)


def test_conv_integer_of_signed_filters_around_their_zero_points() -> None:
    """By hand: ONNX Runtime takes one zero point for the weight."""
    inputs = {"x": _integers(np.uint8, 1, 2, 5), "w": _integers(np.int8, 3, 2, 1), "xz": np.asarray(np.uint8(7))}
    inputs["wz"] = _integers(np.int8, 3)
    (y,) = run(node_model("ConvInteger", inputs, 10), inputs).values()
    filters = inputs["w"][:, :, 0].astype(np.int32) - inputs["wz"][:, None]
    np.testing.assert_array_equal(y[0], filters @ (inputs["x"][0].astype(np.int32) - 7))


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes", "message"),
    [
        ("QuantizeLinear", {"x": X, "s": _scales(4)}, {}, r"must have the shape \[6\]"),
        ("QuantizeLinear", {"x": X, "s": _scales(6), "z": np.int8([1])}, {}, "must have the same shape"),
        ("QuantizeLinear", {"x": X, "s": _scales(6)}, {"axis": 3}, "axis 3 is out of range"),
        ("QuantizeLinear", {"x": X, "s": _scales(2, 3, 5)}, {"block_size": 3}, r"must have the shape \[2, 2, 5\]"),
        ("QuantizeLinear", {"x": X, "s": _scales(2, 3, 5)}, {"block_size": -1}, "block_size must be 0 or more"),
        (
            "QuantizeLinear",
            {"x": X, "s": f32(1), "z": np.int8(0)},
            {"output_dtype": TensorProto.UINT8},
            "output_dtype is ui8, but the zero point has elements of type i8",
        ),
        ("MatMulInteger", {"a": _integers(np.int8), "b": _integers(np.int8, 3)}, {}, "a scalar cannot be an operand"),
        ("ConvInteger", {"x": _integers(np.int8, 1, 2, 5), "w": _integers(np.int8, 2, 2)}, {}, "must have one rank"),
    ],
)
def test_broken_nodes(op_type: str, inputs: dict, attributes: dict, message: str) -> None:
    arrays = {name: np.asarray(array) for name, array in inputs.items()}
    with pytest.raises(ModelError, match=f"{NAME}.*{message}"):
        imported(node_model(op_type, arrays, 21, **attributes))


def test_floats_of_eight_bits_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="FLOAT8E4M3FN"):
        imported(
            node_model("QuantizeLinear", {"x": X, "s": np.asarray(f32(1))}, 21, output_dtype=TensorProto.FLOAT8E4M3FN)
        )
