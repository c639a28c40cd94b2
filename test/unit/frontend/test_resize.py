"""Resize. Oracle: ONNX Runtime, unless a test names another."""

from typing import Any

import numpy as np
import pytest

from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import check, f32, i64, node_model, run

X = f32(1, 2, 4, 5)
EMPTY = np.zeros(0, np.float32)
CROP = {"coordinate_transformation_mode": "tf_crop_and_resize"}
MODES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


def _scales(*numbers: float) -> np.ndarray:
    return np.float32(numbers)


def _resize(opset: int, scales: np.ndarray | None = None, sizes: np.ndarray | None = None, **attributes: Any) -> None:
    inputs = [("x", X), ("roi", EMPTY if opset < 13 else None), ("scales", scales), ("sizes", sizes)]
    known = ["roi", "scales", "sizes"]
    check("Resize", inputs, opset, known=[name for name in known if dict(inputs)[name] is not None], **attributes)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("scales", [(1, 1, 2, 3), (1, 1, 1.5, 1), (1, 1, 0.5, 0.6), (1, 1, 0.6, 2.3)])
def test_opset_10(mode: str, scales: tuple[float, ...]) -> None:
    check("Resize", {"x": X, "scales": _scales(*scales)}, 10, known=["scales"], mode=mode)


@pytest.mark.parametrize("opset", [11, 13, 18, 19])
@pytest.mark.parametrize("coordinates", MODES)
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_coordinates(opset: int, coordinates: str, mode: str) -> None:
    for scales in ((1, 1, 2, 3), (1, 1, 0.6, 0.5), (1, 1, 1.3, 1.7), (1, 1, 0.25, 0.2)):
        scale = _scales(*scales)
        _resize(opset, scale, mode=mode, coordinate_transformation_mode=coordinates)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("coordinates", MODES)
def test_rounding(rounding: str, coordinates: str) -> None:
    for scales in ((1, 1, 2, 3), (1, 1, 0.6, 0.5), (1, 1, 1.3, 1.7)):
        names = {"nearest_mode": rounding, "coordinate_transformation_mode": coordinates}
        _resize(13, _scales(*scales), mode="nearest", **names)


def test_tf_half_pixel_for_nn() -> None:
    scales = _scales(1, 1, 1.5, 0.6)
    _resize(11, scales, mode="nearest", coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor")


@pytest.mark.parametrize("opset", [11, 13, 18, 19])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_sizes(opset: int, mode: str) -> None:
    if opset == 11:  # scales must be there, and empty
        inputs = {"x": X, "roi": EMPTY, "scales": EMPTY, "sizes": i64(1, 2, 7, 3)}
        check("Resize", inputs, opset, known=["roi", "scales", "sizes"], mode=mode)
    else:
        _resize(opset, sizes=i64(1, 2, 7, 3), mode=mode)


def test_half_pixel_symmetric_by_hand() -> None:
    """Opset 19, from the operator's text: 4 * 0.6 = 2.4, so the 2 outputs stand for positions
    2 * (1 - 2 / 2.4) + (o + 0.5) / 0.6 - 0.5, that is 2/3 and 7/3, and lie evenly around the centre 1.5."""
    x = np.float32([[[0, 10, 20, 30]]])
    model = node_model(
        "Resize", [("x", x), ("roi", None), ("scales", _scales(1, 1, 0.6))], 19, known=["scales"],
        mode="linear", coordinate_transformation_mode="half_pixel_symmetric",
    )  # fmt: skip
    np.testing.assert_allclose(run(model, {"x": x})["y0"], [[[20 / 3, 70 / 3]]], rtol=1e-5)


@pytest.mark.parametrize("axes", [[2, 3], [-1, -2], [3]])
def test_axes(axes: list[int]) -> None:
    _resize(18, _scales(*([2.0, 0.5][: len(axes)])), mode="nearest", axes=axes)


@pytest.mark.parametrize("policy", ["stretch", "not_larger", "not_smaller"])
def test_aspect_ratio(policy: str) -> None:
    _resize(18, sizes=i64(7, 8), mode="nearest", axes=[2, 3], keep_aspect_ratio_policy=policy)


def test_aspect_ratio_rounds_half_up() -> None:
    """By hand: 5 * min(2 / 4, 4 / 5) = 2.5 becomes 3."""
    model = node_model(
        "Resize", [("x", X), ("roi", None), ("scales", None), ("sizes", i64(2, 4))], 18, known=["sizes"],
        axes=[2, 3], keep_aspect_ratio_policy="not_larger",
    )  # fmt: skip
    assert run(model, {"x": X})["y0"].shape == (1, 2, 2, 3)


def test_integers() -> None:
    x = np.arange(12, dtype=np.int32).reshape(1, 1, 3, 4)
    inputs = [("x", x), ("roi", None), ("scales", _scales(1, 1, 2, 2))]
    check("Resize", inputs, 13, known=["scales"], mode="nearest")


@pytest.mark.parametrize("coordinates", MODES)
@pytest.mark.parametrize("attributes", [{}, {"cubic_coeff_a": -0.5, "exclude_outside": 1}])
def test_cubic(coordinates: str, attributes: dict[str, Any]) -> None:
    for scales in ((1, 1, 2, 3), (1, 1, 0.6, 0.8), (1, 1, 1.3, 1.7)):
        names = {"mode": "cubic", "coordinate_transformation_mode": coordinates}
        _resize(13, _scales(*scales), tolerance=2e-6, **names, **attributes)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("exclude", [0, 1])
@pytest.mark.parametrize("scales", [(1, 1, 0.5, 0.6), (1, 1, 0.25, 2), (1, 1, 3, 0.4)])
def test_antialias(mode: str, exclude: int, scales: tuple[float, ...]) -> None:
    attributes = {"mode": mode, "antialias": 1, "exclude_outside": exclude, "oracle": "onnx.reference"}
    _resize(19, _scales(*scales), tolerance=2e-6, **attributes)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("region", [(0, 0, 0.2, 0.6, 1, 1, 0.7, 1), (0, 0, -0.3, 0.9, 1, 1, 1.2, 0.1)])
def test_crop(mode: str, region: tuple[float, ...]) -> None:
    roi = np.float32(region)
    for sizes in (i64(1, 2, 3, 7), i64(1, 2, 1, 4)):
        inputs = [("x", X), ("roi", roi), ("scales", None), ("sizes", sizes)]
        attributes = {"mode": mode, "extrapolation_value": 7.5, "oracle": "onnx.reference", **CROP}
        if mode == "nearest":
            attributes["oracle"] = "onnxruntime"
        if sizes[2] == 1 and mode != "nearest":
            continue  # the reference takes one element's middle for half the region's length
        check("Resize", inputs, 13, known=["roi", "sizes"], tolerance=2e-6, **attributes)


def test_crop_by_scales_is_of_the_region() -> None:
    """By hand: floor(8 * 0.5 * 2) elements from position 0 to position 3.5, half a step apart."""
    x = np.arange(8, dtype=np.float32)
    model = node_model(
        "Resize", [("x", x), ("roi", np.float32([0, 0.5])), ("scales", _scales(2))], 13, known=["roi", "scales"],
        mode="linear", **CROP,
    )  # fmt: skip
    np.testing.assert_allclose(run(model, {"x": x})["y0"], np.arange(8) / 2, rtol=1e-6)


def test_half_floats_are_resampled_in_f32() -> None:
    x = X.astype(np.float16)
    inputs = [("x", x), ("roi", None), ("scales", _scales(1, 1, 2, 0.6))]
    check("Resize", inputs, 13, known=["scales"], mode="cubic", oracle="onnx.reference", tolerance=1e-3)


def test_errors() -> None:
    def resize(opset: int, scales: np.ndarray | None, sizes: np.ndarray | None = None, **attributes: Any) -> None:
        inputs = [("x", X), ("roi", EMPTY), ("scales", scales), ("sizes", sizes)]
        known = [name for name, array in inputs[1:] if array is not None]
        run(node_model("Resize", inputs, opset, known=known, **attributes), {"x": X})

    up = _scales(1, 1, 2, 2)
    whole = X.astype(np.int32)
    inputs = [("x", X), ("roi", np.float32([0, 0, 1, 0, 1, 1, 0, 1])), ("scales", up)]
    with pytest.raises(ModelError, match="ends before it starts"):
        run(node_model("Resize", inputs, 13, known=["roi", "scales"], **CROP), {"x": X})
    inputs = [("x", whole), ("roi", None), ("scales", up)]
    with pytest.raises(UnsupportedError, match="for floats only"):
        run(node_model("Resize", inputs, 19, known=["scales"], mode="cubic"), {"x": whole})
    for text, given, attributes in (
        ("exactly one of scales and sizes", (13, up, i64(1, 2, 3, 4)), {}),
        ("exactly one of scales and sizes", (13, EMPTY), {}),
        ("scales must be 4 numbers above 0", (13, _scales(1, 1, 2)), {}),
        ("scales must be 4 numbers above 0", (13, _scales(1, 1, 2, -1)), {}),
        ("sizes must be 4 numbers", (13, None, i64(3, 4)), {}),
        ("mode must be nearest, linear or cubic, not 'best'", (13, up), {"mode": "best"}),
        ("roi must be 8 numbers", (13, up), CROP),
        ("'middle', which ONNX does not have", (13, up), {"mode": "cubic", "coordinate_transformation_mode": "middle"}),
        ("coordinates must be one of", (13, up), {"coordinate_transformation_mode": "middle"}),
        ("name one axis twice", (18, up), {"axes": [0, 1, 2, -2]}),
        ("keep_aspect_ratio_policy must be", (18, up), {"keep_aspect_ratio_policy": "loose"}),
    ):
        with pytest.raises(ModelError, match=text):
            resize(*given, **attributes)
