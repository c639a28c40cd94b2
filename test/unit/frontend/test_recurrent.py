"""RNN, GRU and LSTM. Oracle: ONNX Runtime, which has no layout=1: that is held against layout=0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import equal, f32, imported, node_model, onnxruntime_run, run

T, B, X, H = 4, 3, 5, 6
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
DIRECTIONS = ["forward", "reverse", "bidirectional"]


def _inputs(op_type: str, direction: str, have: str) -> list[tuple[str, Any]]:
    """have: letters of the optional inputs: b bias, s sequence lengths, h and c initial states, p peepholes."""
    gates, count = GATES[op_type], 2 if direction == "bidirectional" else 1
    inputs: list[tuple[str, Any]] = [
        ("x", f32(T, B, X)),
        ("w", f32(count, gates * H, X, seed=1)),
        ("r", f32(count, gates * H, H, seed=2)),
        ("b", f32(count, 2 * gates * H, seed=3) if "b" in have else None),
        ("s", np.array([2, 4, 3], np.int32) if "s" in have else None),
        ("h", f32(count, B, H, seed=4) if "h" in have else None),
    ]
    if op_type == "LSTM":
        inputs += [("c", f32(count, B, H, seed=5) if "c" in have else None)]
        inputs += [("p", f32(count, 3 * H, seed=6) if "p" in have else None)]
    return inputs


def _check(op_type: str, direction: str, have: str, opset: int = 14, scale: float = 1, **attributes: Any) -> None:
    """scale: of all numbers; small ones do not explode where activations have no bounds."""
    inputs = _inputs(op_type, direction, have)
    inputs = [(name, array if array is None or name == "s" else array * np.float32(scale)) for name, array in inputs]
    outputs = 3 if op_type == "LSTM" else 2
    attributes = {"hidden_size": H, "direction": direction, **attributes}
    model = node_model(op_type, inputs, opset, known=["w", "r", "b", "p"], outputs=outputs, **attributes)
    given_inputs = {name: array for name, array in inputs if array is not None}
    runtime = {name: array for name, array in given_inputs.items() if name not in "wrbp"}
    equal(run(model, given_inputs), onnxruntime_run(model, runtime), 3e-6)


@pytest.mark.parametrize("op_type", GATES)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("have", ["", "b", "bs", "bh", "bshcp"])
def test_inputs(op_type: str, direction: str, have: str) -> None:
    _check(op_type, direction, have)


@pytest.mark.parametrize("op_type", GATES)
@pytest.mark.parametrize("opset", [7, 13, 14, 21, 22])
def test_opsets(op_type: str, opset: int) -> None:
    _check(op_type, "forward", "b", opset)


ACTIVATIONS = ["Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid", "Elu", "Softsign", "Softplus"]


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(list(GATES)), st.sampled_from(DIRECTIONS), st.sampled_from([None, 0.3, 2.0]), st.data())
def test_activations_and_clip(op_type: str, direction: str, clip: float | None, data: st.DataObject) -> None:
    count = {"RNN": 1, "GRU": 2, "LSTM": 3}[op_type] * (2 if direction == "bidirectional" else 1)
    names = data.draw(st.lists(st.sampled_from(ACTIVATIONS), min_size=count, max_size=count))
    _check(op_type, direction, "bhcp", scale=0.3, activations=names, **({} if clip is None else {"clip": clip}))


def test_numbers_of_activations_go_to_those_that_take_them() -> None:
    numbers = {"activation_alpha": [0.4, 0.7], "activation_beta": [0.1, 0.2]}
    _check("LSTM", "forward", "bc", activations=["HardSigmoid", "Tanh", "Affine"], **numbers)
    _check("GRU", "forward", "bh", activations=["HardSigmoid", "ScaledTanh"], **numbers)
    _check("RNN", "bidirectional", "b", activations=["LeakyRelu", "Affine"], **numbers)
    _check("RNN", "forward", "b", activations=["ThresholdedRelu"], activation_alpha=[0.3])


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_variants(direction: str) -> None:
    _check("GRU", direction, "bsh", linear_before_reset=1)
    _check("GRU", direction, "h", linear_before_reset=1, clip=0.5)
    _check("LSTM", direction, "bc", input_forget=1)


@pytest.mark.parametrize("op_type", GATES)
def test_batch_first(op_type: str) -> None:
    inputs = _inputs(op_type, "bidirectional", "bshcp")
    outputs = 3 if op_type == "LSTM" else 2
    attributes = {"hidden_size": H, "direction": "bidirectional", "outputs": outputs}
    want = run(node_model(op_type, inputs, 14, **attributes), dict(inputs))
    moved = [(name, np.ascontiguousarray(array.swapaxes(0, 1)) if name in "xhc" else array) for name, array in inputs]
    got = run(node_model(op_type, moved, 14, layout=1, **attributes), dict(moved))
    back = {"y0": got["y0"].transpose(1, 2, 0, 3)} | {key: got[key].swapaxes(0, 1) for key in list(got)[1:]}
    equal(back, want, tolerance=0)


def test_half_precision_is_computed_in_f32() -> None:
    inputs = [
        (name, None if array is None else array.astype(np.float16)) for name, array in _inputs("GRU", "forward", "b")
    ]
    wide = [(name, None if array is None else array.astype(np.float32)) for name, array in inputs]
    got = run(node_model("GRU", inputs, 14, outputs=2), {name: array for name, array in inputs if array is not None})
    want = run(node_model("GRU", wide, 14, outputs=2), {name: array for name, array in wide if array is not None})
    equal(got, {name: array.astype(np.float16) for name, array in want.items()}, tolerance=0)


def test_errors() -> None:
    inputs = _inputs("LSTM", "forward", "b")
    with pytest.raises(ModelError, match=r"hidden_size 7\), but are \[1, 24, 5\]"):
        imported(node_model("LSTM", inputs, 14, hidden_size=7))
    with pytest.raises(ModelError, match="direction must be"):
        imported(node_model("LSTM", inputs, 14, direction="sideways"))
    with pytest.raises(ModelError, match="activations must be 3 for each direction"):
        imported(node_model("LSTM", inputs, 14, activations=["Tanh"]))
    with pytest.raises(ModelError, match="there is no activation 'Sine'"):
        imported(node_model("LSTM", inputs, 14, activations=["Sine", "Tanh", "Tanh"]))
    long = [("x", f32(2049, 1, X)), *inputs[1:]]
    with pytest.raises(UnsupportedError, match="2049 steps are not unrolled"):
        imported(node_model("LSTM", long, 14))
