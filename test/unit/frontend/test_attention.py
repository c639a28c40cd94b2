"""Attention, RotaryEmbedding and TensorScatter of ONNX. Oracle: onnx.reference, which follows the operators' text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.support.errors import ModelError
from unit.frontend.single_node import equal, f32, imported, node_model, reference_run, run

B, S, T, D = 2, 4, 6, 8


def _compare(op_type: str, inputs: list[tuple[str, Any]], opset: int, outputs: int = 1, **attributes: Any) -> None:
    model = node_model(op_type, inputs, opset, outputs=outputs, **attributes)
    given_inputs = {name: array for name, array in inputs if array is not None}
    equal(run(model, given_inputs), reference_run(model, given_inputs), 2e-6)


def _mask(kind: str, keys: int) -> np.ndarray | None:
    random = np.random.default_rng(3)
    shapes = {"bool": (S, keys), "heads": (4, S, keys), "items": (B, 1, S, keys), "short": (S, keys - 1)}
    if kind == "none":
        return None
    allowed = random.random(shapes.get(kind, (S, keys))) < 0.5
    return f32(S, keys, seed=5) if kind == "float" else allowed


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([23, 24, 25]),
    st.sampled_from(["none", "bool", "float", "heads", "items", "short"]),
    st.sampled_from(["fresh", "past", "valid"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 2.0]),
    st.sampled_from([2, 3]),
    st.tuples(st.integers(-1, 3), st.integers(-1, 3)),
)
def test_attention(
    opset: int, mask: str, keys: str, causal: bool, flat: bool, cap: float, mode: int, window: tuple[int, int]
) -> None:
    kv_heads = 2
    shapes = [(B, S, 4 * D), (B, T, kv_heads * D), (B, T, kv_heads * 5)] if flat else []
    shapes = shapes or [(B, 4, S, D), (B, kv_heads, T, D), (B, kv_heads, T, 5)]
    past = [(B, kv_heads, 3, D), (B, kv_heads, 3, 5)] if keys == "past" else [(), ()]
    has_valid = keys == "valid" and opset >= 24
    bias = _mask("bool" if mask == "short" and opset < 24 else mask, T + 3 if keys == "past" else T)
    inputs: list[tuple[str, Any]] = [
        (name, f32(*shape, seed=at)) for at, (name, shape) in enumerate(zip("qkv", shapes, strict=False))
    ]
    inputs += [("mask", bias)]
    inputs += [(name, f32(*shape, seed=7) if shape else None) for name, shape in zip(("pk", "pv"), past, strict=True)]
    inputs += [("n", np.array([3, 6]))] if has_valid else []
    attributes: dict[str, Any] = {"is_causal": int(causal), "softcap": cap, "qk_matmul_output_mode": mode}
    attributes |= {"q_num_heads": 4, "kv_num_heads": kv_heads} if flat else {}
    attributes |= {"left_window_size": window[0], "right_window_size": window[1]} if opset >= 25 else {}
    _compare("Attention", inputs, opset, 1 if has_valid else 4, **attributes)


def test_attention_errors() -> None:
    flat = {"q": f32(B, S, 8), "k": f32(B, T, 8), "v": f32(B, T, 8)}
    with pytest.raises(ModelError, match="q_num_heads and kv_num_heads"):
        imported(node_model("Attention", flat, 23))
    with pytest.raises(ModelError, match="with 3 heads"):
        imported(node_model("Attention", flat, 23, q_num_heads=3, kv_num_heads=1))
    with pytest.raises(ModelError, match="do not go together as heads"):
        imported(node_model("Attention", flat, 23, q_num_heads=2, kv_num_heads=4))
    with pytest.raises(ModelError, match="must be 0 to 3, but is 4"):
        imported(node_model("Attention", flat, 23, q_num_heads=2, kv_num_heads=2, qk_matmul_output_mode=4))


@settings(max_examples=30, deadline=None)
@given(st.booleans(), st.booleans(), st.sampled_from([0, 4]), st.booleans(), st.tuples(*[st.integers(1, 5)] * 3))
def test_rotary_embedding(flat: bool, neighbours: bool, part: int, placed: bool, sizes: tuple[int, int, int]) -> None:
    batch, length, heads = sizes
    x = f32(batch, length, heads * D) if flat else f32(batch, heads, length, D)
    shape = (9, (part or D) // 2) if placed else (batch, length, (part or D) // 2)
    angles = np.random.default_rng(length).uniform(-3, 3, shape).astype(np.float32)
    places = np.random.default_rng(batch).integers(0, 9, (batch, length))
    inputs = [("x", x), ("cos", np.cos(angles)), ("sin", np.sin(angles)), ("at", places if placed else None)]
    attributes = {"interleaved": int(neighbours), "rotary_embedding_dim": part}
    _compare("RotaryEmbedding", inputs, 23, **attributes, **({"num_heads": heads} if flat else {}))


def test_rotary_embedding_errors() -> None:
    inputs = {"x": f32(1, 2, 3, 8), "cos": f32(1, 3, 3), "sin": f32(1, 3, 3)}
    with pytest.raises(ModelError, match="the angles are 3 per token, but must be half of 8"):
        imported(node_model("RotaryEmbedding", inputs, 23))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3), st.integers(1, 5), st.booleans(), st.booleans(), st.data())
def test_tensor_scatter(axis: int, length: int, circular: bool, placed: bool, data: st.DataObject) -> None:
    shape = [3, 2, 2, 2]
    shape[axis] = 5
    update = list(shape)
    update[axis] = length
    most = 4 if circular else 5 - length
    starts = np.array(data.draw(st.lists(st.integers(0, most), min_size=3, max_size=3)))
    inputs = [("cache", f32(*shape)), ("update", f32(*update, seed=1)), ("at", starts if placed else None)]
    _compare("TensorScatter", inputs, 24, axis=axis - 4, mode="circular" if circular else "linear")
