"""Fused operators of ONNX Runtime's own domain. Oracle: ONNX Runtime, optimisations off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.frontend.onnx.activations import find_activation
from aiopt.frontend.onnx.registry import MICROSOFT
from aiopt.support.errors import ModelError, RunTimeValueError, UnsupportedError
from unit.frontend.single_node import NAME, check, equal, f32, imported, node_model, onnxruntime_run, run

X, WEIGHT = f32(1, 4, 6, 5), f32(6, 2, 3, 3, seed=1)


def _check(op_type: str, inputs: Any, **attributes: Any) -> None:
    check(op_type, inputs, 17, domain=MICROSOFT, **{"tolerance": 2e-6, **attributes})


@pytest.mark.parametrize("op_type", ["Gelu", "FastGelu", "QuickGelu"])
def test_gelu(op_type: str) -> None:
    _check(op_type, {"x": np.concatenate([np.linspace(-9, 9, 90, dtype="f4"), np.float32([0, np.inf, 80, -80])])})


def test_gelu_with_bias_and_alpha() -> None:
    _check("BiasGelu", {"x": f32(2, 3, 8), "bias": f32(8, seed=1)})
    _check("FastGelu", {"x": f32(2, 3, 8), "bias": f32(8, seed=1)})
    _check("QuickGelu", {"x": f32(2, 3, 8)}, alpha=-0.7)
    with pytest.raises(ModelError, match=rf"{NAME}.*the bias must have the shape \[8\], but has \[1\]"):
        imported(node_model("BiasGelu", {"x": f32(2, 8), "bias": f32(1)}, 17, domain=MICROSOFT))


@pytest.mark.parametrize(
    ("activation", "numbers"),
    [
        ("Relu", []),
        ("Tanh", []),
        ("Sigmoid", []),
        ("LeakyRelu", [0.3]),
        ("Clip", [-0.5, 1.5]),
        ("HardSigmoid", [0.3, 0.4]),
    ],
)
@pytest.mark.parametrize("added", [False, True])
def test_fused_conv(activation: str, numbers: list[float], added: bool) -> None:
    inputs = [("x", X), ("w", WEIGHT), ("b", f32(6, seed=2)), ("z", f32(1, 6, 6, 5, seed=3) if added else None)]
    window = {"group": 2, "pads": [1, 1, 1, 1], "activation": activation}
    _check("FusedConv", inputs, **window, **({"activation_params": numbers} if numbers else {}))


def test_fused_conv_errors() -> None:
    inputs = {"x": X, "w": WEIGHT, "b": f32(6), "z": f32(6, 1, 1)}
    with pytest.raises(ModelError, match=r"Z must have the result's shape \[1, 6, 4, 3\], but has \[6, 1, 1\]"):
        imported(node_model("FusedConv", inputs, 17, domain=MICROSOFT, group=2))
    del inputs["z"]
    with pytest.raises(ModelError, match="there is no activation 'Relu7'"):
        imported(node_model("FusedConv", inputs, 17, domain=MICROSOFT, group=2, activation="Relu7"))


@pytest.mark.parametrize("activation", [{"activation": "Tanh"}, {"activation": "LeakyRelu", "activation_alpha": 0.2}])
def test_fused_gemm(activation: dict[str, Any]) -> None:
    _check("FusedGemm", {"a": f32(5, 4), "b": f32(5, 6), "c": f32(6)}, transA=1, alpha=0.5, beta=2.0, **activation)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2), st.tuples(*[st.booleans()] * 4), st.floats(-2, 2, width=16), st.tuples(*[st.integers(1, 4)] * 5)
)
def test_fused_matmul(leading: int, flags: tuple[bool, ...], alpha: float, sizes: tuple[int, ...]) -> None:
    swap_a, swap_b, batch_a, batch_b = flags
    *batch, m, k, n = (*sizes[:leading], *sizes[2:])
    batch_a, batch_b = batch_a and leading > 0, batch_b and leading > 0

    def stored(rows: int, columns: int, swapped: bool, moved: bool, seed: int) -> np.ndarray:
        rows, columns = (columns, rows) if swapped else (rows, columns)
        return f32(*([rows, *batch, columns] if moved else [*batch, rows, columns]), seed=seed)

    inputs = {"a": stored(m, k, swap_a, batch_a, 0), "b": stored(k, n, swap_b, batch_b, 1)}
    names = {"transA": swap_a, "transB": swap_b, "transBatchA": batch_a, "transBatchB": batch_b}
    attributes = {name: int(flag) for name, flag in names.items()}
    model = node_model("FusedMatMul", inputs, 17, domain=MICROSOFT, alpha=alpha, **attributes)
    equal(run(model, inputs), onnxruntime_run(model, inputs), 2e-6)


def _quantized(bits: int, rows: int, depth: int, block: int) -> dict[str, np.ndarray]:
    random, blocks = np.random.default_rng(bits + rows), -(-depth // block)
    return {
        "x": f32(2, 3, depth),
        "b": random.integers(0, 256, (rows, blocks, block * bits // 8)).astype(np.uint8),
        "scales": random.uniform(0.01, 0.1, (rows, blocks)).astype(np.float32),
        "zeros": random.integers(0, 256, (rows, -(-blocks * bits // 8))).astype(np.uint8),
    }


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([4, 8]), st.integers(1, 9), st.integers(1, 80), st.sampled_from([16, 32]), st.booleans())
def test_matmul_nbits(bits: int, rows: int, depth: int, block: int, with_zeros: bool) -> None:
    """By hand from the text: element i of a row is in the low bits of its byte first."""
    inputs = _quantized(bits, rows, depth, block)
    blocks, last = -(-depth // block), (1 << bits) - 1
    want = np.zeros((rows, depth))
    for row in range(rows):
        for column in range(depth):
            at, place = column // block, column % block * bits
            number = int(inputs["b"][row, at, place // 8]) >> (place % 8) & last
            packed = inputs["zeros"][row, at * bits // 8]
            zero = (int(packed) >> (at * bits % 8) & last) if with_zeros else 1 << (bits - 1)
            want[row, column] = (number - zero) * inputs["scales"][row, at]
    assert blocks == inputs["b"].shape[1]
    given_inputs = [(name, array if name != "zeros" or with_zeros else None) for name, array in inputs.items()]
    attributes = {"K": depth, "N": rows, "bits": bits, "block_size": block, "domain": MICROSOFT}
    model = node_model("MatMulNBits", given_inputs, 17, known=["b", "scales", "zeros"], **attributes)
    equal(run(model, inputs), {"y0": (inputs["x"] @ want.T).astype(np.float32)}, 1e-5)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("with_zeros", [False, True])
def test_matmul_nbits_as_onnxruntime(bits: int, with_zeros: bool) -> None:
    inputs = _quantized(bits, 8, 96, 32)
    operands = [(name, array if name != "zeros" or with_zeros else None) for name, array in inputs.items()]
    weights = ["b", "scales", "zeros"]
    attributes = {"K": 96, "N": 8, "bits": bits, "block_size": 32, "domain": MICROSOFT}
    model = node_model("MatMulNBits", operands, 17, known=weights, **attributes)
    equal(run(model, inputs), onnxruntime_run(model, {"x": inputs["x"]}), 1e-5)


def test_matmul_nbits_errors() -> None:
    inputs, attributes = _quantized(4, 8, 64, 32), {"K": 64, "N": 8, "block_size": 32, "domain": MICROSOFT}
    del inputs["zeros"]
    with pytest.raises(RunTimeValueError, match=r"input 1 \(B, 'b'\) depends on the data of a run"):
        imported(node_model("MatMulNBits", inputs, 17, **attributes))
    weights = ["b", "scales"]
    with pytest.raises(UnsupportedError, match="weights of 5 bits"):
        imported(node_model("MatMulNBits", inputs, 17, known=weights, bits=5, **attributes))
    with pytest.raises(ModelError, match=r"input 1 \(B\) must have 288 elements"):
        imported(node_model("MatMulNBits", inputs, 17, known=weights, **{**attributes, "N": 9}))
    with pytest.raises(ModelError, match="must be K = 63"):
        imported(node_model("MatMulNBits", inputs, 17, known=weights, **{**attributes, "K": 63}))


def test_normalisations() -> None:
    x, skip, row = f32(2, 3, 8), f32(2, 3, 8, seed=1), {name: f32(8, seed=at + 2) for at, name in enumerate("gbc")}
    for given_skip in (skip, skip[:1], skip[0]):
        inputs = {"x": x, "skip": given_skip, **row}
        names = ["y0", "", "", "sum"]
        _check("SkipLayerNormalization", inputs, outputs=names)
        _check("SkipSimplifiedLayerNormalization", dict(list(inputs.items())[:-1]), outputs=names, epsilon=1e-3)
    _check("SkipLayerNormalization", {"x": x, "skip": skip, "g": row["g"]}, epsilon=0.1)
    check("SimplifiedLayerNormalization", {"x": x, "g": row["g"]}, 17, tolerance=2e-6, epsilon=1e-2)


@pytest.mark.parametrize("segments", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("placed", [False, True])
def test_embed_layer_norm(segments: bool, masked: bool, placed: bool) -> None:
    random = np.random.default_rng(0)
    ids = {name: random.integers(0, most, (2, 5)).astype(np.int32) for name, most in (("w", 9), ("s", 2), ("p", 7))}
    inputs = [
        ("ids", ids["w"]),
        ("segments", ids["s"] if segments else None),
        ("words", f32(9, 8)),
        ("positions", f32(7, 8, seed=1)),
        ("kinds", f32(2, 8, seed=2) if segments else None),
        ("gamma", f32(8, seed=3)),
        ("beta", f32(8, seed=4)),
        ("mask", np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32) if masked else None),
        ("at", ids["p"] if placed else None),
    ]
    _check("EmbedLayerNormalization", inputs, outputs=3)


def test_training_outputs_are_refused() -> None:
    inputs = {"x": f32(2, 3, 8), "skip": f32(2, 3, 8), "g": f32(8)}
    with pytest.raises(UnsupportedError, match=r"its output 1 \('mean'\) is used, but aiopt does not compute it"):
        imported(node_model("SkipLayerNormalization", inputs, 17, domain=MICROSOFT, outputs=["y", "mean"]))


def test_activations_are_found_whatever_the_case() -> None:
    assert find_activation("Relu") is find_activation("RELU")
