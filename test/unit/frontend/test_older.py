"""Opsets 1 to 6. Oracle: numpy, by the text of the operator in its opset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import equal, f32, node_model, run

X = f32(2, 3, 4, 5)
POSITIVE = abs(X) + 1


def _check(op_type: str, inputs: dict[str, np.ndarray], opset: int, want: np.ndarray, **attributes: Any) -> None:
    equal(run(node_model(op_type, inputs, opset, **attributes), inputs), {"y0": want}, 1e-6)


@pytest.mark.parametrize(
    ("shape", "axis", "aligned"),
    [
        ((5,), None, (5,)),
        ((4, 5), None, (4, 5)),
        ((3, 4), 1, (3, 4, 1)),
        ((2,), 0, (2, 1, 1, 1)),
        ((3,), -3, (3, 1, 1)),
        ((), None, ()),
        ((1, 1), None, (1, 1)),
        ((2, 1), 0, (2, 1, 1, 1)),
    ],
)
@pytest.mark.parametrize("op_type", ["Sub", "Div", "Pow"])
def test_limited_broadcasting(op_type: str, shape: tuple[int, ...], axis: int | None, aligned: tuple[int, ...]) -> None:
    b = np.asarray(abs(f32(*shape, seed=1)) + np.float32(0.5))
    apply = {"Sub": np.subtract, "Div": np.divide, "Pow": np.power}[op_type]
    where = {} if axis is None else {"axis": axis}
    want = apply(POSITIVE, b.reshape(aligned))
    _check(op_type, {"a": POSITIVE, "b": b}, 6, want, broadcast=1, **where)
    _check(op_type, {"a": POSITIVE, "b": b}, 1, want, broadcast=1, **where)


def test_comparison_broadcasts() -> None:
    b = f32(3, seed=1)
    _check("Less", {"a": X, "b": b}, 6, b.reshape(3, 1, 1) > X, broadcast=1, axis=1)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "broadcast is not 1"),
        ({"broadcast": 1, "axis": 1}, "from axis 1 on"),
        ({"broadcast": 1, "axis": 3}, "axis 3"),
    ],
)
def test_shapes_that_do_not_broadcast(attributes: dict[str, int], message: str) -> None:
    inputs = {"a": X, "b": f32(4, 5)}
    with pytest.raises(ModelError, match=rf"node 'the_node' \(Add, opset 6.*\): .*{message}"):
        run(node_model("Add", inputs, 6, **attributes), inputs)


def test_prelu_has_a_slope_for_each_channel() -> None:
    slope = f32(3, seed=1)
    _check("PRelu", {"x": X, "s": slope}, 6, np.where(X < 0, X * slope.reshape(3, 1, 1), X))
    _check("PRelu", {"x": X, "s": slope[:1]}, 6, np.where(X < 0, X * slope[0], X))
    with pytest.raises(ModelError, match="one for each channel"):
        run(node_model("PRelu", {"x": X, "s": f32(5)}, 6), {"x": X, "s": f32(5)})


def test_what_was_an_attribute_or_had_another_default() -> None:
    _check("Reshape", {"x": X}, 1, X.reshape(6, 20), shape=[6, 20])
    _check("Pad", {"x": X[0, 0]}, 1, np.pad(X[0, 0], ((1, 0), (0, 2))), paddings=[1, 0, 0, 2])
    _check("Cast", {"x": X}, 5, X.astype(np.int32), to="INT32")
    _check("Concat", {"a": X, "b": X}, 3, np.concatenate([X, X], 1))
    _check("Relu", {"x": X}, 1, np.maximum(X, 0), consumed_inputs=[0])
    _check("Gemm", {"a": f32(2, 3), "b": f32(3, 4), "c": f32(4)}, 6, f32(2, 3) @ f32(3, 4) + f32(4), broadcast=1)
    negative = np.float32(1.0507) * np.float32(1.6732) * (np.exp(X) - 1)
    _check("Selu", {"x": X}, 1, np.where(X > 0, np.float32(1.0507) * X, negative).astype(np.float32))


def test_nodes_that_did_not_change() -> None:
    _check("Transpose", {"x": X}, 1, X.transpose(3, 2, 1, 0))
    _check("Softmax", {"x": X[0, 0]}, 6, np.exp(X[0, 0]) / np.exp(X[0, 0]).sum(1, keepdims=True), axis=1)


def test_inference_must_be_asked_for() -> None:
    _check("Dropout", {"x": X}, 6, X, is_test=1)
    with pytest.raises(UnsupportedError, match="is_test=0"):
        run(node_model("Dropout", {"x": X}, 6), {"x": X})


@pytest.mark.parametrize(
    ("op_type", "opset", "attributes", "error", "message"),
    [
        ("Cast", 5, {"to": "FLOAT13"}, ModelError, "'FLOAT13'"),
        ("Cast", 5, {"to": int(TensorProto.FLOAT)}, ModelError, "must be of type STRING"),
        ("Reshape", 1, {}, ModelError, "'shape' is missing"),
        ("LpPool", 1, {"p": 1.5, "kernel_shape": [2, 2]}, UnsupportedError, "p=1.5"),
        ("Upsample", 1, {"height_scale": 2.0, "width_scale": 2.0}, UnsupportedError, "this opset of the operator"),
        ("Cos", 6, {}, ModelError, "opset 6 has no such operator"),
    ],
)
def test_what_is_refused(
    op_type: str, opset: int, attributes: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run(node_model(op_type, {"x": X}, opset, **attributes), {"x": X})
