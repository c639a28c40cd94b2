"""Reductions. Oracle: ONNX Runtime."""

from typing import Any

import numpy as np
import pytest

from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import check, f32, i64, node_model, run

X = f32(2, 3, 4)
OPS = ["ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"]


@pytest.mark.parametrize("op_type", OPS)
@pytest.mark.parametrize("attributes", [{}, {"axes": [1]}, {"axes": [2, 0], "keepdims": 0}, {"keepdims": 0}])
def test_axes_as_attribute(op_type: str, attributes: dict[str, Any]) -> None:
    check(op_type, {"x": X}, 11, **attributes)


@pytest.mark.parametrize("op_type", OPS)
def test_negative_axes_as_attribute(op_type: str) -> None:
    check(op_type, {"x": X}, 12, axes=[-1])


@pytest.mark.parametrize("op_type", OPS)
@pytest.mark.parametrize("axes", [None, i64(), i64(1), i64(-1, 0)])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_axes_as_input(op_type: str, axes: np.ndarray | None, keepdims: int) -> None:
    check(op_type, [("x", X), ("axes", axes)], 18, known=["axes"], keepdims=keepdims)


def test_sum_took_its_axes_as_input_first() -> None:
    check("ReduceSum", {"x": X, "axes": i64(1)}, 13, known=["axes"])


def test_no_axes_and_noop() -> None:
    check("ReduceSum", {"x": X}, 13, noop_with_empty_axes=1)


def test_mean_of_integers_rounds_toward_zero() -> None:
    check("ReduceMean", {"x": np.array([[3, 4], [-3, -4]], np.int32)}, 13, axes=[1])


def test_sum_and_max_of_integers() -> None:
    for op_type in ("ReduceSum", "ReduceMax"):
        check(op_type, {"x": np.arange(-6, 6).reshape(3, 4)}, 12, axes=[0])


def test_errors() -> None:
    with pytest.raises(ModelError, match="axis 3 is out of range for a tensor of rank 3"):
        run(node_model("ReduceMax", {"x": X}, 12, axes=[3]), {})
    with pytest.raises(ModelError, match=r"axes \[0, -3\] name one axis twice"):
        run(node_model("ReduceMax", {"x": X}, 12, axes=[0, -3]), {})
    with pytest.raises(UnsupportedError, match=r"input 1 \(axes, 'axes'\) depends on the data of a run"):
        run(node_model("ReduceSum", {"x": X, "axes": i64(1)}, 13), {})
    with pytest.raises(ModelError, match="elements of type f32; the operator takes int64"):
        run(node_model("ReduceSum", {"x": X, "axes": f32(1)}, 13, known=["axes"]), {})
