"""RoiAlign and MaxRoiPool. Oracle: ONNX Runtime, unless a test names another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import check, equal, f32, i64, imported, node_model, onnxruntime_run, reference_run, run

X = f32(2, 3, 9, 7)


def _regions(seed: int, count: int, low: float = -4, high: float = 14) -> np.ndarray:
    """Corners inside and outside of the image; some are upside down, or empty."""
    return np.random.default_rng(seed).uniform(low, high, (count, 4)).astype(np.float32)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("pixels", [None, "half_pixel", "output_half_pixel"])
@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 99), st.tuples(st.integers(1, 4), st.integers(1, 4)), st.integers(1, 3), st.sampled_from([1, 0.5])
)
def test_roi_align(mode: str, pixels: str | None, seed: int, bins: tuple[int, int], samples: int, scale: float) -> None:
    inputs = {"x": X, "r": _regions(seed, 5), "b": i64(0, 1, 1, 0, 1)}
    names = {} if pixels is None else {"coordinate_transformation_mode": pixels}
    bins_given = {"output_height": bins[0], "output_width": bins[1], "sampling_ratio": samples}
    model = node_model("RoiAlign", inputs, 16, mode=mode, spatial_scale=float(scale), **bins_given, **names)
    equal(run(model, inputs), onnxruntime_run(model, inputs), 1e-5)


@pytest.mark.parametrize("opset", [10, 16, 22])
def test_opsets_have_their_own_pixels(opset: int) -> None:
    """Oracle: onnx.reference with the mode spelt out, for opset 10 in 16, which has the attribute."""
    inputs = {"x": X, "r": _regions(1, 5, 0, 7), "b": i64(0, 1, 1, 0, 1)}
    bins = {"output_height": 2, "output_width": 3, "sampling_ratio": 2}
    pixels = "output_half_pixel" if opset < 16 else "half_pixel"
    spelt = node_model("RoiAlign", inputs, max(opset, 16), coordinate_transformation_mode=pixels, **bins)
    equal(run(node_model("RoiAlign", inputs, opset, **bins), inputs), reference_run(spelt, inputs), 1e-5)


def test_roi_align_of_other_types() -> None:
    for dtype in (np.float64, np.float16):
        inputs = {"x": X.astype(dtype), "r": _regions(1, 2, 0, 7).astype(dtype), "b": i64(0, 1)}
        model = node_model("RoiAlign", inputs, 16, output_height=2, output_width=2, sampling_ratio=2)
        (have,) = run(model, inputs).values()
        wide = {"x": X, "r": inputs["r"].astype(np.float32), "b": inputs["b"]}
        want = onnxruntime_run(
            node_model("RoiAlign", wide, 16, output_height=2, output_width=2, sampling_ratio=2), wide
        )
        assert have.dtype == dtype
        np.testing.assert_allclose(have, want["y0"], atol=3e-3 if dtype == np.float16 else 1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.tuples(st.integers(1, 4), st.integers(1, 4)), st.sampled_from([1, 0.5, 0.0625]))
def test_max_roi_pool(seed: int, bins: tuple[int, int], scale: float) -> None:
    corners = np.sort(_regions(seed, 5, -3 / scale, 12 / scale).reshape(5, 2, 2), axis=1).reshape(5, 4)
    regions = np.concatenate([np.float32([[0], [1], [0], [1], [0]]), corners], axis=1)
    check("MaxRoiPool", {"x": X, "r": regions}, 13, pooled_shape=list(bins), spatial_scale=float(scale))


def test_errors() -> None:
    inputs = {"x": X, "r": _regions(0, 2), "b": i64(0, 1)}
    with pytest.raises(UnsupportedError, match="sampling_ratio=0"):
        imported(node_model("RoiAlign", inputs, 16))
    with pytest.raises(ModelError, match=r"batch_indices \[3\] must have one image for each of 2 regions"):
        imported(node_model("RoiAlign", {**inputs, "b": i64(0, 1, 1)}, 16, sampling_ratio=1))
    with pytest.raises(ModelError, match="mode 'mean'"):
        imported(node_model("RoiAlign", inputs, 16, sampling_ratio=1, mode="mean"))
    with pytest.raises(ModelError, match=r"rois \[R, 5\], but are 2x3x9x7xf32 and 2x4xf32"):
        imported(node_model("MaxRoiPool", {"x": X, "r": _regions(0, 2)}, 13, pooled_shape=[1, 1]))
    with pytest.raises(ModelError, match="pooled_shape must be two numbers"):
        imported(node_model("MaxRoiPool", {"x": X, "r": f32(2, 5)}, 13, pooled_shape=[1]))
    with pytest.raises(ModelError, match="out of range"):
        imported(node_model("RoiAlign", {**inputs, "b": i64(0, 7)}, 16, known=["b"], sampling_ratio=1))
