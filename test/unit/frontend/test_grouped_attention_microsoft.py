"""GroupQueryAttention. Oracle: ONNX Runtime, optimisations off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.frontend.onnx.registry import MICROSOFT
from aiopt.support.errors import ModelError, RunTimeValueError, UnsupportedError
from unit.frontend.single_node import equal, f32, imported, node_model, onnxruntime_run, run

OP = "GroupQueryAttention"
Inputs = list[tuple[str, Any]]
D = 16


def _inputs(batch: int, length: int, past: int, heads: tuple[int, int], *, packed: bool = False) -> Inputs:
    """At the first call all items have the same length; later they have not."""
    many, few = heads
    total = length + past
    last = [total - 1 - (item % 2 if past > 1 else 0) for item in range(batch)]
    new: Inputs = [
        ("q", f32(batch, length, many * D)),
        ("k", f32(batch, length, few * D, seed=1)),
        ("v", f32(batch, length, few * D, seed=2)),
    ]
    if packed:
        new = [("q", f32(batch, length, (many + 2 * few) * D)), ("k", None), ("v", None)]
    cache = [f32(batch, few, past, D, seed=seed) if past else None for seed in (3, 4)]
    ends: Inputs = [("n", np.array(last, np.int32)), ("t", np.array(total, np.int32))]
    return [*new, ("pk", cache[0]), ("pv", cache[1]), *ends]


def _check(inputs: Inputs, heads: tuple[int, int], **attributes: Any) -> None:
    attributes = {"num_heads": heads[0], "kv_num_heads": heads[1], "domain": MICROSOFT, **attributes}
    model = node_model(OP, inputs, 17, known=["t"], outputs=3, **attributes)
    given_inputs = {name: array for name, array in inputs if array is not None}
    runtime = {name: array for name, array in given_inputs.items() if name != "t"}
    equal(run(model, given_inputs), onnxruntime_run(model, runtime), 3e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 3),
    st.sampled_from([(4, 4), (4, 2), (6, 1)]),
    st.sampled_from([(5, 0), (1, 4), (1, 1)]),
    st.booleans(),
    st.sampled_from([{}, {"softcap": 3.0}, {"local_window_size": 2}, {"scale": 0.3}]),
    st.sampled_from([None, 0, 1]),
)
def test_prompts_and_later_tokens(
    batch: int,
    heads: tuple[int, int],
    lengths: tuple[int, int],
    packed: bool,
    attributes: dict[str, Any],
    rotary: int | None,
) -> None:
    inputs = _inputs(batch, *lengths, heads, packed=packed)
    if rotary is not None:
        angles = np.random.default_rng(0).uniform(-3, 3, (9, D // 2)).astype(np.float32)
        inputs += [("cos", np.cos(angles)), ("sin", np.sin(angles))]
        attributes = {**attributes, "do_rotary": 1, "rotary_interleaved": rotary}
    _check(inputs, heads, **attributes)


def test_bias_of_the_scores() -> None:
    inputs = _inputs(1, 1, 4, (4, 2))
    _check([*inputs, ("cos", None), ("sin", None), ("at", None), ("bias", f32(1, 4, 1, 5))], (4, 2))


def test_errors() -> None:
    inputs, attributes = _inputs(1, 1, 4, (4, 2)), {"num_heads": 4, "kv_num_heads": 2, "domain": MICROSOFT}
    with pytest.raises(RunTimeValueError, match=r"input 6 \(total_sequence_length, 't'\) depends on the data"):
        imported(node_model(OP, inputs, 17, **attributes))
    with pytest.raises(ModelError, match="num_heads 4 must be a multiple of kv_num_heads 3"):
        imported(node_model(OP, inputs, 17, known=["t"], **{**attributes, "kv_num_heads": 3}))
    with pytest.raises(UnsupportedError, match="head_sink and smooth_softmax"):
        imported(node_model(OP, inputs, 17, known=["t"], smooth_softmax=1, **attributes))
