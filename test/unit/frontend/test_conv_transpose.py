"""ConvTranspose. Oracle: ONNX Runtime, unless a test names another."""

from typing import Any

import numpy as np
import pytest

from aiopt.support.errors import ModelError
from unit.frontend.single_node import check, f32, node_model, run

X, W, B = f32(2, 4, 5, 6), f32(4, 3, 3, 2, seed=1), f32(3, seed=2)


@pytest.mark.parametrize("opset", [7, 11, 22])
@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"strides": [2, 3]},
        {"strides": [2, 2], "pads": [1, 0, 1, 1], "kernel_shape": [3, 2]},
        {"strides": [3, 2], "output_padding": [2, 1], "pads": [1, 1, 0, 0]},
        {"dilations": [2, 1], "strides": [1, 2]},
        {"auto_pad": "VALID", "strides": [2, 2]},
    ],
)
def test_windows(opset: int, attributes: dict[str, Any]) -> None:
    check("ConvTranspose", {"x": X, "w": W, "b": B}, opset, tolerance=1e-5, **attributes)


def test_without_bias_in_groups_and_other_ranks() -> None:
    check("ConvTranspose", {"x": X, "w": W}, 11, tolerance=1e-5)
    check("ConvTranspose", {"x": X, "w": W, "b": f32(6)}, 11, group=2, strides=[2, 2], tolerance=1e-5)
    check("ConvTranspose", {"x": X, "w": f32(4, 1, 2, 2)}, 11, group=4, strides=[2, 2], tolerance=1e-5)
    check("ConvTranspose", {"x": f32(1, 2, 5), "w": f32(2, 3, 4)}, 11, strides=[3], tolerance=1e-5)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_same_gives_size_times_stride(mode: str) -> None:
    check("ConvTranspose", {"x": X, "w": W}, 11, strides=[2, 1], auto_pad=mode, tolerance=1e-5)


def _columns(opset: int, **attributes: Any) -> list[float]:
    """What is left of the full result 1 2 .. 5 (kernel 1 2 3 4 5, one element) for an output_shape of 2."""
    arrays = {"x": np.ones((1, 1, 1), "f4"), "w": np.arange(1, 6, dtype="f4").reshape(1, 1, 5)}
    return run(node_model("ConvTranspose", arrays, opset, output_shape=[2], **attributes), arrays)["y0"].tolist()[0][0]


def test_output_shape_splits_the_padding() -> None:
    """By hand from the operator's text: of 3 elements the odd one is cut at the start or end, which opset 11 turned
    round. (ONNX Runtime does in every opset what opset 11 says.)"""
    assert _columns(11) == [3, 4]
    assert _columns(11, auto_pad="SAME_LOWER") == [3, 4]
    assert _columns(11, auto_pad="SAME_UPPER") == [2, 3]
    assert _columns(7) == [2, 3]
    assert _columns(7, auto_pad="SAME_UPPER") == [3, 4]


def test_output_shape_against_onnxruntime() -> None:
    check("ConvTranspose", {"x": X, "w": W}, 11, strides=[2, 2], output_shape=[10, 11], tolerance=1e-5)


def test_errors() -> None:
    for attributes, text in (
        ({"kernel_shape": [3, 3]}, "contradicts the weight's"),
        ({"strides": [2]}, "strides must be 2 numbers of 1 or more"),
        ({"pads": [-1, 0, 0, 0]}, "pads must be 4 numbers of 0 or more"),
        ({"pads": [9, 0, 0, 0]}, "nothing is left of 7 elements"),
        ({"output_shape": [4]}, "output_shape must be 2 numbers"),
        ({"auto_pad": "ALL"}, "auto_pad must be"),
        ({"group": 3}, "whole groups"),
    ):
        with pytest.raises(ModelError, match=text):
            run(node_model("ConvTranspose", {"x": X, "w": W}, 11, **attributes), {})
    with pytest.raises(ModelError, match="one rank"):
        run(node_model("ConvTranspose", {"x": X, "w": f32(4, 3, 3)}, 11), {})
