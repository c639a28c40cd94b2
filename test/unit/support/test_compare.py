"""Comparing outputs with a reference."""

import numpy as np
import pytest

from aiopt.support.compare import relative_difference, run_onnxruntime
from aiopt.support.errors import CompileError

INF, NAN = float("inf"), float("nan")


def _f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        (_f32(1, 2), _f32(1, 2), 0.0),
        (_f32(1, 3), _f32(1, 4), 0.25),
        (_f32(-1, 0), _f32(-2, 0), 0.5),
        (_f32(NAN, INF, 2), _f32(NAN, INF, 2), 0.0),
        (_f32(NAN, 2), _f32(2, 2), INF),
        (_f32(2, 2), _f32(NAN, 2), INF),
        (_f32(-INF), _f32(INF), INF),
        (_f32(INF), _f32(3e38), INF),
        (_f32(NAN), _f32(INF), INF),
        (_f32(0.5), _f32(0), 0.5),
        (_f32(1), _f32(1, 1), INF),
        (_f32(), _f32(), 0.0),
        (np.array([0, 255], np.uint8), np.array([1, 255], np.uint8), 1 / 255),
        (np.array([True]), np.array([False]), 1.0),
    ],
)
def test_relative_difference(output: np.ndarray, reference: np.ndarray, expected: float) -> None:
    assert relative_difference(output, reference) == expected


def test_onnxruntime_refuses_a_broken_model() -> None:
    with pytest.raises(CompileError, match="onnxruntime cannot run the model"):
        run_onnxruntime(b"no model", {})
