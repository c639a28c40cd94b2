"""Col2Im and DeformConv. Oracles: onnx.reference and ONNX Runtime, as a test says."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.support.errors import ModelError
from unit.frontend.single_node import equal, f32, i64, imported, node_model, onnxruntime_run, reference_run, run


def _counts(image: list[int], kernel: list[int], window: dict[str, list[int]]) -> list[int]:
    pads, rank = window["pads"], len(image)
    return [
        (n + pads[d] + pads[d + rank] - (kernel[d] - 1) * window["dilations"][d] - 1) // window["strides"][d] + 1
        for d, n in enumerate(image)
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3), st.data())
def test_columns_to_image(rank: int, data: st.DataObject) -> None:
    """Oracle: numpy, window by window."""
    sizes = [
        data.draw(st.lists(st.integers(*ends), min_size=rank, max_size=rank))
        for ends in ((3, 5), (1, 2), (1, 2), (1, 2))
    ]
    image, kernel, strides, dilations = sizes
    window = {
        "strides": strides,
        "dilations": dilations,
        "pads": data.draw(st.lists(st.integers(0, 2), min_size=2 * rank, max_size=2 * rank)),
    }
    counts, taps = _counts(image, kernel, window), math.prod(kernel)
    inputs = {"x": f32(2, 3 * taps, math.prod(counts)), "image": i64(*image), "kernel": i64(*kernel)}
    columns = inputs["x"].reshape(2, 3, *kernel, *counts)
    padded = [n + window["pads"][d] + window["pads"][d + rank] for d, n in enumerate(image)]
    want = np.zeros((2, 3, *padded), np.float32)
    for at in product(*(range(n) for n in (*kernel, *counts))):
        place = [
            tap * dilation + start * stride
            for tap, start, dilation, stride in zip(at[:rank], at[rank:], dilations, strides, strict=True)
        ]
        want[(slice(None), slice(None), *place)] += columns[(slice(None), slice(None), *at)]
    inner = [slice(window["pads"][d], window["pads"][d] + n) for d, n in enumerate(image)]
    model = node_model("Col2Im", inputs, 18, known=["image", "kernel"], **window)
    equal(run(model, inputs), {"y0": want[(slice(None), slice(None), *inner)]}, 1e-6)


def _deformable(rank: int, group: int, groups: int, window: dict[str, Any], have: str) -> dict[str, np.ndarray | None]:
    image, kernel = [5, 6, 4][:rank], [2, 3, 2][:rank]
    counts, taps = _counts(image, kernel, window), math.prod(kernel)
    return {
        "x": f32(2, 4, *image),
        "w": f32(6, 4 // group, *kernel, seed=1),
        "o": f32(2, groups * taps * rank, *counts, seed=2) * np.float32(1.5),
        "b": f32(6, seed=3) if "b" in have else None,
        "m": f32(2, groups * taps, *counts, seed=4) if "m" in have else None,
    }


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("have", ["", "b", "m", "bm"])
@pytest.mark.parametrize("opset", [19, 22])
def test_deformable_convolution(group: int, groups: int, have: str, opset: int) -> None:
    """Oracle: ONNX Runtime."""
    window = {"strides": [2, 1], "pads": [1, 0, 2, 1], "dilations": [1, 2]}
    inputs = _deformable(2, group, groups, window, have)
    model = node_model("DeformConv", list(inputs.items()), opset, group=group, offset_group=groups, **window)
    given_inputs = {name: array for name, array in inputs.items() if array is not None}
    equal(run(model, given_inputs), onnxruntime_run(model, given_inputs), 1e-5)


@pytest.mark.parametrize("rank", [1, 3])
def test_deformable_by_whole_numbers_is_a_moved_convolution(rank: int) -> None:
    """Oracle: onnx.reference's Conv of the image moved by one; it and ONNX Runtime have DeformConv in 2-D alone."""
    window = {"strides": [1] * rank, "pads": [0] * 2 * rank, "dilations": [1] * rank}
    inputs = _deformable(rank, 1, 1, window, "")
    assert inputs["o"] is not None
    assert inputs["x"] is not None
    inputs["o"] = np.ones_like(inputs["o"])
    arrays = {name: array for name, array in inputs.items() if array is not None}
    moved = np.zeros_like(arrays["x"])
    moved[(..., *[slice(0, -1)] * rank)] = arrays["x"][(..., *[slice(1, None)] * rank)]
    plain = {"x": moved, "w": arrays["w"]}
    want = reference_run(node_model("Conv", plain, 19), plain)
    equal(run(node_model("DeformConv", arrays, 19), arrays), want, 1e-5)


def test_errors() -> None:
    inputs = {"x": f32(1, 8, 6), "image": i64(3, 4), "kernel": i64(2, 2)}
    with pytest.raises(ModelError, match=r"columns \[1, 8, 5\] do not fit windows of \[2, 2\], \[2, 3\] of them"):
        imported(node_model("Col2Im", {**inputs, "x": f32(1, 8, 5)}, 18, known=["image", "kernel"]))
    window = {"strides": [1, 1], "pads": [0] * 4, "dilations": [1, 1]}
    given_inputs = {name: array for name, array in _deformable(2, 1, 1, window, "").items() if array is not None}
    with pytest.raises(ModelError, match="3 groups and 1 offset groups do not divide 4 channels"):
        imported(node_model("DeformConv", given_inputs, 19, group=3))
    with pytest.raises(ModelError, match=r"offset and mask must have the shapes \[2, 24, 4, 4\]"):
        imported(node_model("DeformConv", given_inputs, 19, offset_group=2))
