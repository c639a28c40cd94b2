"""LayerNormalization and LRN. Oracle: ONNX Runtime, unless a test names another."""

from typing import Any

import numpy as np
import pytest

from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import check, f32, node_model, run

X = f32(2, 3, 4) * 3 + 1
ROW, PLANE = {"x": X, "scale": f32(4, seed=1)}, {"x": X, "scale": f32(3, 4, seed=1), "bias": f32(3, 4, seed=2)}


@pytest.mark.parametrize("attributes", [{}, {"axis": -1, "epsilon": 0.1}, {"axis": 2, "stash_type": 1}])
def test_layer_norm_of_rows(attributes: dict[str, Any]) -> None:
    check("LayerNormalization", ROW, 17, **attributes)


@pytest.mark.parametrize("opset", [17, 21])
def test_layer_norm_of_several_dimensions(opset: int) -> None:
    check("LayerNormalization", PLANE, opset, axis=1)
    check("LayerNormalization", PLANE, opset, axis=-2)


def test_layer_norm_scale_broadcasts() -> None:
    check("LayerNormalization", {**PLANE, "scale": f32(4, seed=1)}, 17, axis=1, oracle="onnx.reference")


def test_layer_norm_f16_keeps_statistics_in_f32() -> None:
    """Oracle: f64 by hand; squares of 300 and more overflow f16."""
    x, one = (X * 300).astype("f2"), np.ones(4, "f2")
    wide = x.astype("f8")
    want = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    got = run(node_model("LayerNormalization", {"x": x, "scale": one}, 17), {"x": x, "scale": one})["y0"]
    assert got.dtype == np.float16
    np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3)


def test_layer_norm_statistics_in_f64() -> None:
    """Oracle: f64 by hand. In f32 the variance of numbers near 1e4 that differ by 1e-3 is lost."""
    x = (1e4 + f32(2, 4) * 1e-2).astype(np.float32)
    wide = x.astype("f8")
    want = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    model = node_model("LayerNormalization", {"x": x, "scale": np.ones(4, "f4")}, 17, stash_type=11)
    np.testing.assert_allclose(run(model, {"x": x, "scale": np.ones(4, "f4")})["y0"], want, rtol=1e-6)


def test_layer_norm_errors() -> None:
    with pytest.raises(ModelError, match="axis 3 is out of range"):
        run(node_model("LayerNormalization", ROW, 17, axis=3), {})
    with pytest.raises(ModelError, match=r"does not broadcast|do not broadcast"):
        run(node_model("LayerNormalization", {"x": X, "scale": f32(3)}, 17), {})
    with pytest.raises(UnsupportedError, match="stash_type"):
        run(node_model("LayerNormalization", ROW, 17, stash_type=10), {})


@pytest.mark.parametrize("opset", [7, 13])
@pytest.mark.parametrize("size", [1, 3, 5, 9])
def test_lrn(opset: int, size: int) -> None:
    check("LRN", {"x": f32(2, 6, 3, 4)}, opset, size=size, alpha=0.1)


def test_lrn_attributes() -> None:
    check("LRN", {"x": f32(1, 5, 7, 3) * 10}, 13, size=3, alpha=0.5, beta=0.3, bias=2.0, tolerance=2e-6)
    check("LRN", {"x": f32(1, 5, 7, 3)}, 13, size=5)


@pytest.mark.parametrize("shape", [(2, 6, 3, 4), (2, 6, 5), (2, 6)])
def test_lrn_of_even_size_and_any_rank_by_hand(shape: tuple[int, ...]) -> None:
    """From the operator's text: channels c - floor((size - 1) / 2) to c + ceil((size - 1) / 2). ONNX Runtime takes odd
    sizes and rank 4 alone; onnx.reference leaves channels out."""
    x = f32(*shape)
    squares = np.stack([np.sum(x[:, max(c - 1, 0) : c + 3] ** 2, axis=1) for c in range(6)], axis=1)
    got = run(node_model("LRN", {"x": x}, 13, size=4, alpha=0.8), {"x": x})["y0"]
    np.testing.assert_allclose(got, x / (1 + 0.8 / 4 * squares) ** 0.75, rtol=1e-5)


def test_lrn_errors() -> None:
    with pytest.raises(ModelError, match="attribute 'size' is missing"):
        run(node_model("LRN", {"x": f32(1, 2, 3, 4)}, 13), {})
    with pytest.raises(ModelError, match="size must be 1 or more"):
        run(node_model("LRN", {"x": f32(1, 2, 3, 4)}, 13, size=0), {})
