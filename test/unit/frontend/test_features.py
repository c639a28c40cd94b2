"""Numeric operators of ai.onnx.ml. Oracle: ONNX Runtime, optimisations off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import check, equal, f32, i64, imported, node_model, onnxruntime_run, run

ML = "ai.onnx.ml"
X = f32(4, 3)
NAN = np.float32([[1, np.nan, 3], [0, 5, np.nan]])

CASES: list[tuple[str, dict[str, np.ndarray], dict[str, Any]]] = [
    ("Scaler", {"x": X}, {"offset": [0.5, -1.0, 2.0], "scale": [2.0, 0.1, 1.5]}),
    ("Scaler", {"x": X}, {"offset": [0.5], "scale": [2.0]}),
    ("Scaler", {"x": np.arange(6).reshape(2, 3)}, {"offset": [1.0], "scale": [0.3]}),
    ("Binarizer", {"x": X}, {"threshold": 0.3}),
    ("Normalizer", {"x": np.abs(X)}, {"norm": "MAX"}),
    ("Normalizer", {"x": X}, {"norm": "L1"}),
    ("Normalizer", {"x": X}, {"norm": "L2"}),
    ("Normalizer", {"x": np.zeros((2, 3), np.float32)}, {"norm": "L1"}),
    ("Imputer", {"x": NAN}, {"imputed_value_floats": [7.0, 8.0, 9.0], "replaced_value_float": float("nan")}),
    ("Imputer", {"x": NAN}, {"imputed_value_floats": [7.0], "replaced_value_float": 5.0}),
    ("Imputer", {"x": np.array([[1, 2], [2, 3]])}, {"imputed_value_int64s": [7], "replaced_value_int64": 2}),
    ("ArrayFeatureExtractor", {"x": X, "at": i64(2, 0, 2)}, {}),
    ("FeatureVectorizer", {"x": X, "y": f32(4, 2, seed=1)}, {"inputdimensions": [3, 2]}),
    ("OneHotEncoder", {"x": np.array([[1, 5], [9, 3]])}, {"cats_int64s": [3, 1, 5]}),
    ("LinearRegressor", {"x": X}, {"coefficients": [0.3, 1.0, -2.0], "intercepts": [0.4]}),
    ("LinearRegressor", {"x": X}, {"coefficients": [0.3, 1.0, -2.0, 1.0, 2.0, 3.0], "targets": 2}),
    ("LinearRegressor", {"x": X}, {"coefficients": [0.3] * 6, "targets": 2, "post_transform": "SOFTMAX"}),
    ("LinearRegressor", {"x": X}, {"coefficients": [0.3] * 6, "targets": 2, "post_transform": "LOGISTIC"}),
    (
        "LinearRegressor",
        {"x": np.float32([[1, 2, 3], [0, 0, 0], [0, 1, 1], [-4, 0, 1e-9], [9, 9, 9]])},
        {"coefficients": [0.3, 1.0, -1.0, 1.0, 0.0, 0.0], "targets": 2, "post_transform": "SOFTMAX_ZERO"},
    ),
    (
        "LinearRegressor",
        {"x": np.linspace(-0.1, 1.1, 60, dtype=np.float32).reshape(-1, 1)},
        {"coefficients": [1.0, -1.0], "intercepts": [0.0, 1.0], "targets": 2, "post_transform": "PROBIT"},
    ),
]


@pytest.mark.parametrize(("op_type", "inputs", "attributes"), CASES)
def test_as_onnxruntime(op_type: str, inputs: dict[str, np.ndarray], attributes: dict[str, Any]) -> None:
    check(op_type, inputs, 17, domain=ML, tolerance=2e-6, **attributes)


def test_a_vector_becomes_a_row() -> None:
    inputs = {"x": f32(5), "at": i64(4, 1)}
    model = node_model("ArrayFeatureExtractor", inputs, 17, domain=ML)
    equal(run(model, inputs), onnxruntime_run(model, inputs), 0)


def test_one_target_is_transformed_too() -> None:
    """By hand, from the text: ONNX Runtime leaves a single target as it is."""
    model = node_model(
        "LinearRegressor", {"x": X}, 17, domain=ML, coefficients=[0.3, 1.0, -2.0], post_transform="LOGISTIC"
    )
    want = 1 / (1 + np.exp(-(X @ np.float32([[0.3], [1], [-2]]))))
    equal(run(model, {"x": X}), {"y0": want.astype(np.float32)}, 1e-6)


@pytest.mark.parametrize(
    ("op_type", "attributes", "kind", "message"),
    [
        ("Scaler", {"offset": [1.0, 2.0], "scale": [1.0]}, ModelError, "offset must have 1 or 3 numbers, but has 2"),
        ("Scaler", {"offset": [1.0]}, ModelError, "'scale' is missing"),
        ("Normalizer", {"norm": "L3"}, ModelError, "norm must be MAX, L1 or L2"),
        ("LinearRegressor", {"coefficients": [1.0]}, ModelError, "1 coefficients are not 1 for each feature"),
        ("LinearRegressor", {"coefficients": [1.0] * 3, "post_transform": "TANH"}, ModelError, "not 'TANH'"),
        ("FeatureVectorizer", {"inputdimensions": [4]}, UnsupportedError, "inputdimensions"),
    ],
)
def test_errors(op_type: str, attributes: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        imported(node_model(op_type, {"x": X}, 17, domain=ML, **attributes))
