"""Pooling. Oracle: ONNX Runtime."""

from typing import Any

import numpy as np
import pytest

from aiopt.dialects import ext
from aiopt.support.errors import ModelError
from unit.frontend.single_node import check, f32, i64, imported, node_model, run

IMAGE = f32(2, 3, 9, 8)


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(
    "attributes",
    [
        {"kernel_shape": [2, 3]},
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
        {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 0, 2, 1]},
        {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER", "strides": [1, 2]},
        {"kernel_shape": [2, 2], "auto_pad": "VALID"},
    ],
)
@pytest.mark.parametrize("opset", [8, 11, 19])
def test_pool(op_type: str, attributes: dict[str, Any], opset: int) -> None:
    check(op_type, {"x": IMAGE}, opset, **attributes)


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
def test_ceil_mode_that_changes_nothing(op_type: str) -> None:
    check(op_type, {"x": IMAGE}, 11, kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1)


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize(
    "window",
    [
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        {"kernel_shape": [3, 3], "strides": [2, 3], "pads": [1, 1, 1, 1]},
        {"kernel_shape": [2, 2], "strides": [3, 3], "dilations": [2, 1], "pads": [0, 0, 1, 0]},
    ],
)
@pytest.mark.parametrize("counted", [0, 1])
def test_ceil_mode(op_type: str, window: dict[str, Any], counted: int) -> None:
    more = {"count_include_pad": counted} if op_type == "AveragePool" else {}
    # ONNX Runtime counts as opsets before 22 do, onnx.reference is wrong for LpPool.
    opset, oracle = (18, "onnxruntime") if op_type == "LpPool" else (22, "onnx.reference")
    check(op_type, {"x": IMAGE}, opset, oracle=oracle, tolerance=2e-6, ceil_mode=1, **window, **more)


@pytest.mark.parametrize("counted", [0, 1])
def test_average_dilated(counted: int) -> None:
    window = {"kernel_shape": [3, 2], "dilations": [2, 3], "pads": [2, 1, 1, 1], "strides": [1, 2]}
    check("AveragePool", {"x": IMAGE}, 19, count_include_pad=counted, **window)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_lp_pool(p: int) -> None:
    check("LpPool", {"x": IMAGE}, 18, kernel_shape=[3, 2], pads=[1, 0, 1, 1], strides=[2, 1], p=p, tolerance=2e-6)
    check("GlobalLpPool", {"x": IMAGE}, 18, p=p, tolerance=2e-6)


@pytest.mark.parametrize("order", [0, 1])
def test_places_of_maxima(order: int) -> None:
    window = {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "strides": [2, 1], "storage_order": order}
    check("MaxPool", {"x": IMAGE}, 12, outputs=2, **window)
    ties = np.int8([[[[1, 1, 1], [1, 2, 2]]]])
    check("MaxPool", {"x": ties}, 12, outputs=2, kernel_shape=[2, 2], storage_order=order)


@pytest.mark.parametrize("order", [0, 1])
def test_places_of_the_lowest_number_lie_in_the_window(order: int) -> None:
    window = {"kernel_shape": [2, 2], "pads": [1, 1, 1, 1], "storage_order": order}
    check("MaxPool", {"x": np.full((1, 2, 4, 3), -128, np.int8)}, 12, outputs=2, **window)
    lowest, zeros = np.full((1, 2, 4, 3), -np.inf, np.float32), np.zeros((1, 2, 4, 3), np.float32)
    have, want = (
        run(node_model("MaxPool", {"x": x}, 12, outputs=2, **window), {"x": x})["y1"] for x in (lowest, zeros)
    )
    np.testing.assert_array_equal(have, want)  # by hand: of equal elements the first one in the window


def test_places_in_a_large_window_are_one_operation() -> None:
    x = f32(1, 1, 300, 300)
    model = node_model("MaxPool", {"x": x}, 12, outputs=2, kernel_shape=[200, 200])
    assert len(list(ext.operations(imported(model)[0]))) < 10
    top, place = (run(model, {"x": x})[name] for name in ("y0", "y1"))
    np.testing.assert_array_equal(x.reshape(-1)[place], top)


def test_max_unpool() -> None:
    x, places = f32(1, 1, 2, 2), np.array([[[[1, 3], [4, 15]]]])
    check("MaxUnpool", {"x": x, "i": places}, 9, kernel_shape=[2, 2], strides=[2, 2])
    shaped = {"x": x, "i": places, "s": i64(1, 1, 5, 5)}
    (have,) = run(
        node_model("MaxUnpool", shaped, 11, known=["s"], kernel_shape=[2, 2], strides=[2, 2]), shaped
    ).values()
    assert np.argwhere(have[0, 0]).tolist() == [[0, 1], [0, 3], [1, 0], [3, 3]]


def test_average_counts_padding_if_asked() -> None:
    check("AveragePool", {"x": IMAGE}, 11, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)


def test_max_pool_dilated() -> None:
    check("MaxPool", {"x": IMAGE}, 12, kernel_shape=[2, 2], dilations=[2, 3])


def test_max_pool_of_one_and_three_dimensions() -> None:
    check("MaxPool", {"x": f32(1, 2, 7)}, 12, kernel_shape=[2], strides=[2], storage_order=0)
    check("MaxPool", {"x": f32(1, 2, 5, 6, 7)}, 12, kernel_shape=[2, 3, 2])


@pytest.mark.parametrize("op_type", ["GlobalAveragePool", "GlobalMaxPool"])
@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 5, 4), (1, 2, 3, 4, 5)])
def test_global(op_type: str, shape: tuple[int, ...]) -> None:
    check(op_type, {"x": f32(*shape)}, 13)


def test_indices_nobody_reads_are_ignored() -> None:
    model = node_model("MaxPool", {"x": IMAGE}, 12, outputs=2, kernel_shape=[2, 2])
    del model.graph.output[1]
    assert list(run(model, {"x": IMAGE})) == ["y0"]


def test_errors() -> None:
    with pytest.raises(ModelError, match="attribute 'kernel_shape' is missing"):
        run(node_model("MaxPool", {"x": IMAGE}, 12), {})
    with pytest.raises(ModelError, match=r"must have the shape \[N, C, spatial...\], but has \[2, 3\]"):
        run(node_model("GlobalMaxPool", {"x": f32(2, 3)}, 12), {})
    with pytest.raises(ModelError, match="p must be 1 or more, but is 0"):
        run(node_model("LpPool", {"x": IMAGE}, 18, kernel_shape=[2, 2], p=0), {})
    with pytest.raises(ModelError, match="has elements of type i1; the operator takes double, float, float16, int8"):
        run(node_model("MaxPool", {"x": np.ones((1, 1, 4, 4), np.bool_)}, 12, kernel_shape=[2, 2]), {})
