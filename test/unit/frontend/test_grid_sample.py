"""GridSample. Oracle: ONNX Runtime in two dimensions, onnx.reference in three, and for cubic with the border's values:
the operator's text has these for positions outside, where ONNX Runtime mixes in what lies inside."""

from __future__ import annotations

import numpy as np
import pytest

from aiopt.support.errors import ModelError
from unit.frontend.single_node import check, f32, node_model, run

X = f32(2, 3, 4, 5)
GRID = f32(2, 3, 6, 2, seed=1) * np.float32(1.2)  # many positions lie outside


@pytest.mark.parametrize("mode", ["linear", "cubic", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [0, 1])
def test_two_dimensions(mode: str, padding: str, align: int) -> None:
    attributes = {"mode": mode, "padding_mode": padding, "align_corners": align}
    oracle = "onnx.reference" if (mode, padding) == ("cubic", "border") else "onnxruntime"
    check("GridSample", {"x": X, "g": GRID}, 20, tolerance=1e-5, oracle=oracle, **attributes)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_old_names(mode: str) -> None:
    check("GridSample", {"x": X, "g": GRID}, 16, tolerance=1e-5, mode=mode)


@pytest.mark.parametrize("padding", ["zeros", "border"])
def test_three_dimensions(padding: str) -> None:
    inputs = {"x": f32(1, 2, 2, 3, 4), "g": f32(1, 2, 2, 2, 3, seed=1)}
    check("GridSample", inputs, 20, oracle="onnx.reference", tolerance=1e-5, padding_mode=padding)


def test_infinity_outside_a_position_is_not_read() -> None:
    x = np.float32([[[[np.inf, 1]]]])
    grid = np.float32([[[[-9, 0]]]])
    outside = run(node_model("GridSample", {"x": x, "g": grid}, 20), {"x": x, "g": grid})
    assert outside["y0"].tolist() == [[[[0]]]]


def test_errors() -> None:
    for grid, attributes, text in (
        (GRID[:1], {}, "does not fit the input"),
        (GRID[..., :1], {}, "does not fit the input"),
        (GRID, {"mode": "best"}, "mode 'best'"),
        (GRID, {"padding_mode": "wrap"}, "padding_mode 'wrap'"),
    ):
        with pytest.raises(ModelError, match=text):
            run(node_model("GridSample", {"x": X, "g": grid}, 20, **attributes), {"x": X, "g": grid})
