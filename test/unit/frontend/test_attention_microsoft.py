"""Attention operators of ONNX Runtime's own domain. Oracle: ONNX Runtime, optimisations off."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.frontend.onnx.registry import MICROSOFT
from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import equal, f32, imported, node_model, onnxruntime_run, run

Inputs = list[tuple[str, Any]]
B, S, H, D, P = 2, 5, 3, 8, 4


def _model(op_type: str, inputs: Inputs, outputs: int = 1, **attributes: Any) -> onnx.ModelProto:
    return node_model(op_type, inputs, 17, domain=MICROSOFT, outputs=outputs, **attributes)


def _check(op_type: str, inputs: Inputs, outputs: int = 1, tolerance: float = 3e-6, **attributes: Any) -> None:
    model = _model(op_type, inputs, outputs, **attributes)
    given_inputs = {name: array for name, array in inputs if array is not None}
    equal(run(model, given_inputs), onnxruntime_run(model, given_inputs), tolerance)


def _i32(values: Any) -> np.ndarray:
    return np.array(values, np.int32)


LEFT, RIGHT = _i32([[0, 0, 1, 1, 1], [0, 1, 1, 1, 1]]), _i32([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]])
PART = _i32(np.random.default_rng(1).integers(0, 2, (B, S, S)))
MASKS = {
    "none": None,
    "right": RIGHT,
    "left": LEFT,
    "nothing": _i32(np.zeros((B, S))),
    "queries": PART,
    "lengths": _i32([3, 4]),
    "spans": _i32([3, 5, 1, 2]),
    "packed": _i32([3, 4, 0, S, 2 * S, 0, S, 2 * S]),
}


@pytest.mark.parametrize("unidirectional", [0, 1])
@pytest.mark.parametrize("mask", MASKS)
def test_attention_masks(mask: str, unidirectional: int) -> None:
    inputs = [("x", f32(B, S, 7)), ("w", f32(7, 3 * H * D, seed=1)), ("b", f32(3 * H * D, seed=2)), ("m", MASKS[mask])]
    _check("Attention", inputs, 2, num_heads=H, unidirectional=unidirectional)


@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention_with_past_bias_and_sizes(unidirectional: int) -> None:
    hidden = H * D
    inputs = [("x", f32(B, S, 7)), ("w", f32(7, 3 * hidden, seed=1)), ("b", f32(3 * hidden, seed=2))]
    attributes = {"num_heads": H, "unidirectional": unidirectional}
    past, bias = ("past", f32(2, B, H, P, D, seed=3)), ("bias", f32(B, H, S, S, seed=4))
    _check("Attention", [*inputs, ("m", None), past], 2, scale=0.2, **attributes)
    _check("Attention", [*inputs, ("m", _i32(np.ones((B, S + P)))), past], 2, **attributes)
    _check("Attention", [*inputs, ("m", RIGHT), ("past", None), bias], **attributes)
    sizes = [("x", f32(B, S, 7)), ("w", f32(7, 2 * hidden + 12, seed=1)), ("b", f32(2 * hidden + 12, seed=2))]
    _check("Attention", sizes, qkv_hidden_sizes=[hidden, hidden, 12], mask_filter_value=-50.0, **attributes)


def test_a_square_mask_is_read_from_the_first_query_on() -> None:
    """ONNX Runtime has it on GPUs alone: held against the mask of rank 3 that is its part."""
    inputs = [("x", f32(B, S, 7)), ("w", f32(7, 3 * H * D, seed=1)), ("b", f32(3 * H * D, seed=2))]
    past, square = ("past", f32(2, B, H, P, D, seed=3)), _i32(np.tril(np.ones((B, 1, 12, 12))))
    found = []
    for mask in (square, np.ascontiguousarray(square[:, 0, P : P + S, : P + S])):
        given_inputs = [*inputs, ("m", mask), past]
        found.append(run(_model("Attention", given_inputs, num_heads=H), dict(given_inputs)))
    equal(*found, tolerance=0)


def test_attention_errors() -> None:
    inputs = [("x", f32(B, S, 7)), ("w", f32(7, 3 * H * D, seed=1)), ("b", f32(3 * H * D, seed=2))]
    with pytest.raises(ModelError, match="the attribute 'num_heads' is missing"):
        imported(_model("Attention", inputs))
    with pytest.raises(UnsupportedError, match="attribute 'do_rotary' is not supported"):
        imported(_model("Attention", inputs, num_heads=H, do_rotary=1))
    with pytest.raises(ModelError, match="does not fit scores of"):
        imported(_model("Attention", [*inputs, ("m", _i32([[1, 1]] * B))], num_heads=H))


def _tokens(length: int, seed: int) -> np.ndarray:
    return f32(B, length, H * D, seed=seed)


LAYOUTS: dict[str, Inputs] = {
    "flat": [("q", _tokens(S, 0)), ("k", _tokens(7, 1)), ("v", f32(B, 7, H * 6, seed=2))],
    "kept": [("q", _tokens(S, 0)), ("k", f32(B, H, 7, D, seed=1)), ("v", f32(B, H, 7, D, seed=2))],
}


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_multi_head_attention_layouts(layout: str, biased: bool) -> None:
    values = 6 if layout == "flat" else D
    bias = [("b", f32(2 * H * D + H * values, seed=3) if biased else None)]
    mask = [("m", _i32(np.random.default_rng(0).integers(0, 2, (B, 7))))]
    _check("MultiHeadAttention", [*LAYOUTS[layout], *bias, *mask], num_heads=H, scale=0.3)


@pytest.mark.parametrize("mask", [[3, 6], [3, 6, 0, S, 2 * S, 0, 7, 14]])
def test_multi_head_attention_of_so_many_keys(mask: list[int]) -> None:
    _check("MultiHeadAttention", [*LAYOUTS["kept"], ("b", None), ("m", _i32(mask))], num_heads=H)


def test_multi_head_attention_of_one_tensor() -> None:
    """ONNX Runtime has these layouts on GPUs alone: held against three tensors."""
    three = f32(B, S, H, 3, D)
    flat = [np.ascontiguousarray(three[:, :, :, index]).reshape(B, S, H * D) for index in range(3)]
    bias = ("b", f32(3 * H * D, seed=3))
    pair = np.ascontiguousarray(three[:, :, :, 1:])
    found = []
    for inputs in (
        [("q", flat[0]), ("k", flat[1]), ("v", flat[2]), bias],
        [("q", three), ("k", None), ("v", None), bias],
        [("q", flat[0]), ("k", pair), ("v", None), bias],
    ):
        model = _model("MultiHeadAttention", inputs, 3, num_heads=H)
        found.append(run(model, {name: array for name, array in inputs if array is not None}))
    equal(found[1], found[0], tolerance=0)
    equal(found[2], found[0], tolerance=0)


@pytest.mark.parametrize("unidirectional", [0, 1])
def test_multi_head_attention_with_past(unidirectional: int) -> None:
    tokens = [("q", _tokens(S, 0)), ("k", _tokens(S, 1)), ("v", _tokens(S, 2)), ("b", None), ("m", None)]
    past = [("pk", f32(B, H, P, D, seed=5)), ("pv", f32(B, H, P, D, seed=6))]
    bias = [("bias", f32(1, H, S, S + P, seed=4))]
    _check("MultiHeadAttention", [*tokens, *bias, *past], 3, num_heads=H, unidirectional=unidirectional)


def test_multi_head_attention_of_half_precision() -> None:
    """Oracle: f64 by hand; computed in f32 and rounded once."""
    q, k, v = (x.astype(np.float16) for x in (_tokens(S, 0), _tokens(S, 1), _tokens(S, 2)))
    inputs = [("q", q), ("k", k), ("v", v)]
    got = run(_model("MultiHeadAttention", inputs, num_heads=H), dict(inputs))["y0"]
    heads = [x.astype(np.float64).reshape(B, S, H, D).transpose(0, 2, 1, 3) for x in (q, k, v)]
    powers = np.exp(heads[0] @ heads[1].transpose(0, 1, 3, 2) / np.sqrt(D))
    want = (powers / powers.sum(-1, keepdims=True) @ heads[2]).transpose(0, 2, 1, 3).reshape(B, S, H * D)
    assert got.dtype == np.float16
    np.testing.assert_allclose(got, want, rtol=2.0**-10, atol=1e-6)


def test_multi_head_attention_errors() -> None:
    with pytest.raises(ModelError, match="a mask of 3 numbers does not fit a batch of 2"):
        imported(_model("MultiHeadAttention", [*LAYOUTS["kept"], ("b", None), ("m", _i32([1, 2, 3]))], num_heads=H))
    with pytest.raises(ModelError, match="without a key the query must hold all three"):
        imported(_model("MultiHeadAttention", [("q", _tokens(S, 0))], num_heads=H))
    with pytest.raises(ModelError, match="with 5 heads"):
        imported(_model("MultiHeadAttention", LAYOUTS["flat"], num_heads=5))


@settings(max_examples=30, deadline=None)
@given(st.booleans(), st.booleans(), st.sampled_from([0, 4]), st.booleans(), st.tuples(*[st.integers(1, 5)] * 3))
def test_rotary_embedding(flat: bool, neighbours: bool, part: int, each: bool, sizes: tuple[int, int, int]) -> None:
    batch, length, heads = sizes
    x = f32(batch, length, heads * D) if flat else f32(batch, heads, length, D)
    angles = np.random.default_rng(length).uniform(-3, 3, (9, (part or D) // 2)).astype(np.float32)
    random = np.random.default_rng(batch)
    places = random.integers(0, 9, (batch, length)) if each else np.array([min(3, 9 - length)])
    inputs = [("x", x), ("places", places.astype(np.int64)), ("cos", np.cos(angles)), ("sin", np.sin(angles))]
    attributes = {"interleaved": int(neighbours)}
    attributes |= {"rotary_embedding_dim": part, "num_heads": heads} if part else {}
    _check("RotaryEmbedding", inputs, **attributes)
