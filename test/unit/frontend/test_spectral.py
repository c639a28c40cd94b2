"""Fourier transforms, windows, mel weights and determinants. Oracles: numpy.fft, numpy.linalg, onnx.reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import check, equal, f32, i64, imported, node_model, onnxruntime_run, run

Inputs = list[tuple[str, Any]]


def _run(op_type: str, inputs: Inputs, opset: int, **attributes: Any) -> np.ndarray:
    given_inputs = {name: array for name, array in inputs if array is not None}
    known = [name for name, array in given_inputs.items() if name not in ("x", "window") or not array.size]
    return run(node_model(op_type, inputs, opset, known=known, **attributes), given_inputs)["y0"]


def _close(got: np.ndarray, want: np.ndarray, tolerance: float = 3e-6) -> None:
    equal({"y": got}, {"y": want.astype(got.dtype)}, tolerance)


def _pairs(x: np.ndarray) -> np.ndarray:
    return np.stack([x.real, x.imag], -1)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([17, 19, 20, 22]),
    st.sampled_from([0, 1, 2]),
    st.integers(2, 9),
    st.sampled_from([None, 1, 4, 7, 12]),
    st.sampled_from([1, 2]),
    st.sampled_from(["forward", "half", "inverse"]),
)
def test_dft(opset: int, axis: int, size: int, length: int | None, parts: int, kind: str) -> None:
    shape = [2, 3, 2, parts]
    shape[axis] = size
    x = f32(*shape)
    numbers = x[..., 0] + 1j * (x[..., 1] if parts == 2 else 0)
    want = (np.fft.ifft if kind == "inverse" else np.fft.fft)(numbers, length, axis)
    if kind == "half":
        want = np.take(want, range((length or size) // 2 + 1), axis)
    inputs: Inputs = [("x", x), ("length", None if length is None else np.array(length))]
    inputs += [("axis", np.array(axis))] if opset >= 20 else []
    attributes = {"inverse": int(kind == "inverse"), "onesided": int(kind == "half")}
    attributes |= {"axis": axis} if opset < 20 else {}
    _close(_run("DFT", inputs, opset, **attributes), _pairs(want))


@pytest.mark.parametrize("length", [None, 5, 6, 9])
def test_inverse_dft_of_half_a_spectrum(length: int | None) -> None:
    x = f32(2, 5, 2)
    inputs: Inputs = [("x", x), ("length", None if length is None else np.array(length))]
    want = np.fft.irfft(x[..., 0] + 1j * x[..., 1], length, 1)[..., None]
    _close(_run("DFT", inputs, 20, inverse=1, onesided=1), want)


def test_dft_errors() -> None:
    with pytest.raises(ModelError, match="none of real or complex numbers"):
        _run("DFT", [("x", f32(2, 3, 1))], 17, axis=2)
    with pytest.raises(UnsupportedError, match="8192 is the longest"):
        _run("DFT", [("x", f32(1, 8193, 1))], 17)
    with pytest.raises(ModelError, match="length 0 does not exist"):
        _run("DFT", [("x", f32(1, 3, 1)), ("length", np.array(0))], 17)


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("windowed", [False, True])
@pytest.mark.parametrize("parts", [1, 2])
def test_stft(onesided: int, windowed: bool, parts: int) -> None:
    x, window = f32(2, 50, parts), np.hanning(12).astype(np.float32)
    inputs = [("x", x), ("step", np.array(5)), ("window", window if windowed else None), ("length", np.array(12))]
    numbers = (x[..., 0] + 1j * (x[..., 1] if parts == 2 else 0))[:, np.arange(8)[:, None] * 5 + np.arange(12)]
    want = np.fft.fft(numbers * (window if windowed else 1), axis=-1)
    _close(_run("STFT", inputs, 17, onesided=onesided), _pairs(want[..., : 7 if onesided else 12]))


def test_stft_as_onnxruntime() -> None:
    inputs = {"x": f32(1, 128, 1), "step": np.array(8), "window": np.hamming(16).astype(np.float32)}
    model = node_model("STFT", inputs, 17, known=["step"])
    equal(run(model, inputs), onnxruntime_run(model, {key: inputs[key] for key in ("x", "window")}), 3e-6)


def test_stft_errors() -> None:
    x, step = ("x", f32(2, 50, 1)), ("step", np.array(5))
    with pytest.raises(ModelError, match="the window must have the frames' length 12"):
        _run("STFT", [x, step, ("window", f32(11)), ("length", np.array(12))], 17)
    with pytest.raises(ModelError, match="frames of 51 do not fit a signal of 50"):
        _run("STFT", [x, step, ("window", None), ("length", np.array(51))], 17)


@pytest.mark.parametrize("op_type", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("attributes", [{}, {"periodic": 0}, {"output_datatype": 11}])
def test_windows(op_type: str, attributes: dict[str, int]) -> None:
    check(op_type, {"size": np.array(9)}, 17, known=["size"], tolerance=3e-6, **attributes)


@pytest.mark.parametrize(("bins", "length", "rate", "low", "high"), [(8, 64, 8192, 0, 4096), (5, 400, 16000, 60, 7600)])
def test_mel_weights(bins: int, length: int, rate: int, low: int, high: int) -> None:
    numbers = {"bins": np.array(bins), "length": np.array(length), "rate": np.array(rate)}
    edges = {"low": np.array(low, np.float32), "high": np.array(high, np.float32)}
    check("MelWeightMatrix", {**numbers, **edges}, 17, known=[*numbers, *edges], oracle="onnx.reference")


@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3, 3), (2, 3, 5, 5), (8, 8), (0, 2, 2)])
@pytest.mark.parametrize("opset", [11, 22])
def test_det(shape: tuple[int, ...], opset: int) -> None:
    x = f32(*shape)
    _close(_run("Det", [("x", x)], opset), np.asarray(np.linalg.det(x.astype(np.float64))), 1e-5)


def test_det_of_matrices_that_need_a_pivot() -> None:
    x = np.float32([[[0, 1], [1, 0]], [[0, 0], [0, 0]], [[1, 2], [2, 4]], [[1e-30, 1], [1, 1]]])
    _close(_run("Det", [("x", x)], 22), np.float32([-1, 0, 0, -1]))


def test_det_errors() -> None:
    with pytest.raises(ModelError, match="square matrices"):
        _run("Det", [("x", f32(2, 3))], 22)
    with pytest.raises(UnsupportedError, match="determinants of 9 rows"):
        _run("Det", [("x", f32(9, 9))], 22)


def test_lengths_are_known_when_compiling() -> None:
    with pytest.raises(UnsupportedError, match="frame_step"):
        imported(node_model("STFT", {"x": f32(1, 9, 1), "step": i64(2)}, 17))
