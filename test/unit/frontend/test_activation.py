"""Activation functions and other operators on elements. Oracle: the column of the table; "hand" gives the values."""

from typing import Any

import numpy as np
import pytest

from aiopt.support.errors import ModelError
from unit.frontend.single_node import check, equal, f32, i64, node_model, run

X = f32(2, 3, 4) * 3
ODD = np.array([-np.inf, -30, -1, -1e-6, -0.0, 0, 1e-6, 1, 30, np.inf, np.nan], np.float32)
WHOLE = np.int32([-4, -1, 0, 2, 5])
ORT, REF = "onnxruntime", "onnx.reference"
INSIDE = np.tanh(X)

CASES: list[tuple[str, dict[str, Any], int, dict[str, Any], str]] = [
    *(("Elu", {"x": x}, opset, {"alpha": 0.7}, ORT) for x in (X, ODD) for opset in (7, 22)),
    ("Selu", {"x": X}, 7, {}, ORT),
    ("Selu", {"x": X}, 22, {"alpha": 2.0, "gamma": 0.5}, ORT),
    *(("Celu", {"x": X}, opset, {"alpha": 0.7}, ORT) for opset in (12, 20)),
    ("PRelu", {"x": X, "slope": f32(3, 1)}, 7, {}, ORT),
    ("PRelu", {"x": X, "slope": f32(1)}, 16, {}, ORT),
    ("PRelu", {"x": WHOLE, "slope": np.int32([3])}, 9, {}, REF),
    ("ThresholdedRelu", {"x": X}, 10, {"alpha": 0.5}, ORT),
    ("ThresholdedRelu", {"x": ODD}, 10, {}, REF),
    ("Shrink", {"x": X}, 9, {"lambd": 1.5, "bias": 0.5}, ORT),
    ("Shrink", {"x": WHOLE}, 9, {"lambd": 1.5, "bias": 1.0}, REF),
    ("Softplus", {"x": X}, 7, {}, ORT),
    ("Softplus", {"x": X}, 22, {}, REF),
    ("Mish", {"x": X}, 18, {}, REF),
    ("Softsign", {"x": X}, 7, {}, ORT),
    ("Gelu", {"x": X}, 20, {}, ORT),
    ("Gelu", {"x": X}, 20, {"approximate": "tanh"}, ORT),
    ("Swish", {"x": X}, 24, {"alpha": 0.5}, REF),
    *((name, {"x": X}, 9, {}, ORT) for name in ("Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh", "Ceil", "Floor")),
    *((name, {"x": INSIDE}, 9, {}, ORT) for name in ("Asin", "Acos", "Atanh")),
    ("Acosh", {"x": 1 + abs(X)}, 9, {}, ORT),
    ("Round", {"x": np.float32([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.6])}, 11, {}, ORT),
    ("Sign", {"x": ODD}, 13, {}, REF),
    *(("Sign", {"x": np.array([0, 1, 200]).astype(kind)}, 13, {}, ORT) for kind in (np.uint8, np.int64)),
    *(("IsNaN", {"x": ODD}, opset, {}, ORT) for opset in (9, 13)),
    ("IsInf", {"x": ODD}, 10, {}, ORT),
    ("IsInf", {"x": ODD}, 10, {"detect_negative": 0}, ORT),
    ("IsInf", {"x": ODD}, 10, {"detect_positive": 0}, ORT),
    ("IsInf", {"x": ODD}, 20, {"detect_positive": 0, "detect_negative": 0}, REF),
    ("Mod", {"x": i64(-7, -6, 7, 6, 0), "y": i64(3, -3, -3, 3, 2)}, 10, {}, ORT),
    ("Mod", {"x": i64(-7, -6, 7, 6, 0), "y": i64(3, -3, -3, 3, 2)}, 13, {"fmod": 1}, ORT),
    ("Mod", {"x": np.uint8([200, 7]), "y": np.uint8([7, 200])}, 13, {}, ORT),
    ("Mod", {"x": X, "y": f32(4)}, 13, {"fmod": 1}, ORT),
    ("Mean", {"x": X, "y": f32(3, 1), "z": f32(4)}, 8, {}, ORT),
    ("CastLike", {"x": X * 9, "like": WHOLE}, 15, {}, REF),
    ("Size", {"x": X}, 13, {}, ORT),
    ("BitShift", {"x": np.uint8([200, 3]), "y": np.uint8([1, 2])}, 11, {"direction": "RIGHT"}, ORT),
    ("BitShift", {"x": np.uint64([200, 3]), "y": np.uint64([1, 2])}, 11, {"direction": "LEFT"}, ORT),
    *((name, {"x": WHOLE, "y": np.int32([3])}, 18, {}, ORT) for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    ("BitwiseNot", {"x": WHOLE}, 18, {}, ORT),
    ("BitCast", {"x": ODD}, 26, {"to": 6}, REF),
    ("BitCast", {"x": np.array([True, False])}, 26, {"to": 2}, REF),
]


@pytest.mark.parametrize(("op_type", "inputs", "opset", "attributes", "oracle"), CASES)
def test_operators(op_type: str, inputs: Any, opset: int, attributes: Any, oracle: str) -> None:
    check(op_type, inputs, opset, oracle=oracle, tolerance=2e-6, **attributes)


HAND: list[tuple[str, dict[str, Any], int, dict[str, Any], Any]] = [
    # log(exp(x) + 1) where exp overflows and where it vanishes.
    ("Softplus", {"x": np.float32([1e4, -1e4, -20])}, 22, {}, np.float32([1e4, 0, 2.0611537e-9])),
    # Mod-28 with fmod=0 on floats: the sign of the divisor, also of a zero; the divisor where it is infinite.
    (
        "Mod",
        {"x": np.float32([-7.5, 7.5, -6, 6, 3, -3]), "y": np.float32([2, -2, 3, -3, np.inf, np.inf])},
        28,
        {},
        np.float32([0.5, -0.5, 0.0, -0.0, 3, np.inf]),
    ),
    (
        "SwiGLU",
        {"a": np.float32([0, 1, -2]), "b": np.float32([5, 2, 3])},
        28,
        {},
        np.float32([0, 1.4621172, -0.7152175]),
    ),
    ("Celu", {"x": np.float32([2, -2])}, 28, {"alpha": -1.0}, np.float32([0.86466472, -2])),
    ("BitCast", {"x": np.uint8([0, 1, 1])}, 26, {"to": 9}, np.array([False, True, True])),
    ("BitShift", {"x": np.int8([-7, -7]), "y": np.int8([1, 8])}, 28, {"direction": "RIGHT"}, np.int8([-4, -1])),
]


@pytest.mark.parametrize(("op_type", "inputs", "opset", "attributes", "want"), HAND)
def test_by_hand(op_type: str, inputs: Any, opset: int, attributes: Any, want: np.ndarray) -> None:
    have = run(node_model(op_type, inputs, opset, **attributes), inputs)
    np.testing.assert_array_equal(np.signbit(have["y0"]), np.signbit(want)) if want.dtype.kind == "f" else None
    equal(have, {"y0": want})


@pytest.mark.parametrize(
    ("op_type", "inputs", "opset", "attributes", "text"),
    [
        ("PRelu", {"x": f32(3), "slope": f32(2, 3)}, 16, {}, r"slope of shape \[2, 3\] does not broadcast"),
        ("Gelu", {"x": X}, 20, {"approximate": "best"}, "approximate must be none or tanh, not 'best'"),
        ("Mod", {"x": X, "y": X}, 13, {}, "floats need fmod=1"),
        ("Celu", {"x": X}, 12, {"alpha": 0.0}, "alpha must be above 0, but is 0.0"),
        (
            "BitShift",
            {"x": np.uint8([1]), "y": np.uint8([1])},
            11,
            {"direction": "UP"},
            "must be LEFT or RIGHT, not 'UP'",
        ),
        ("BitCast", {"x": X}, 26, {"to": 7}, "i64 and f32 are not of one width"),
        ("SwiGLU", {"x": X, "y": f32(4)}, 28, {}, "A and B must have one shape"),
    ],
)
def test_errors(op_type: str, inputs: Any, opset: int, attributes: Any, text: str) -> None:
    with pytest.raises(ModelError, match=text):
        run(node_model(op_type, inputs, opset, **attributes), inputs)
