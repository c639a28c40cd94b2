"""Norms, softmax and its kin, reductions and places of extremes. Oracle: the last column of the table."""

from typing import Any

import numpy as np
import pytest

from aiopt.support.errors import ModelError
from unit.frontend.single_node import check, equal, f32, i64, node_model, run

X, IMAGE = f32(3, 4, 5), f32(2, 6, 4, 3)
TIED = np.int32([[2, 1, 2, 1]])
ORT, REF = "onnxruntime", "onnx.reference"
CHANNELS = {"scale": f32(6, seed=1), "bias": f32(6, seed=2)}
RUNNING = {**CHANNELS, "mean": f32(6, seed=3), "variance": abs(f32(6, seed=4))}
ROWS = {"x": X, "scale": f32(5, seed=1)}
TIES = np.float32([[1, 3, 3], [np.nan, 2, np.nan], [-np.inf, -np.inf, -np.inf]])
REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]

CASES: list[tuple[str, dict[str, Any], int, dict[str, Any], int, str]] = [
    ("LayerNormalization", ROWS, 17, {"epsilon": 0.1}, 3, REF),
    ("LayerNormalization", {"x": X, "scale": f32(4, 5)}, 17, {"axis": 1}, 3, REF),
    ("RMSNormalization", ROWS, 23, {"epsilon": 0.1}, 1, REF),
    ("RMSNormalization", {"x": X, "scale": f32(4, 5)}, 23, {"axis": -2}, 1, REF),
    *(("InstanceNormalization", {"x": IMAGE, **CHANNELS}, opset, {"epsilon": 0.1}, 1, ORT) for opset in (7, 22)),
    ("GroupNormalization", {"x": IMAGE, "s": f32(3), "b": f32(3)}, 18, {"num_groups": 3, "epsilon": 0.1}, 1, ORT),
    ("GroupNormalization", {"x": IMAGE, **CHANNELS}, 21, {"num_groups": 2}, 1, ORT),
    ("MeanVarianceNormalization", {"x": IMAGE}, 9, {}, 1, ORT),
    ("MeanVarianceNormalization", {"x": IMAGE}, 13, {"axes": [1, -1]}, 1, ORT),
    *(("LpNormalization", {"x": X}, 7, {"p": p, "axis": axis}, 1, ORT) for p in (1, 2) for axis in (0, -1)),
    ("BatchNormalization", {"x": IMAGE, **RUNNING}, 14, {"training_mode": 1, "momentum": 0.7}, 3, REF),
    *((name, {"x": X}, 11, {"axis": axis}, 1, ORT) for name in ("LogSoftmax", "Hardmax") for axis in (0, 1, 2)),
    *((name, {"x": X}, 13, {"axis": axis}, 1, ORT) for name in ("LogSoftmax", "Hardmax") for axis in (0, -1)),
    ("Hardmax", {"x": np.float32([[1, 3, 3], [2, 2, 1]])}, 13, {}, 1, ORT),
    *((f"Reduce{name}", {"x": abs(X)}, 13, {"axes": [0, 2]}, 1, ORT) for name in REDUCTIONS if name != "Sum"),
    *((f"Reduce{name}", {"x": abs(X), "axes": i64(-1)}, 18, {"keepdims": 0}, 1, ORT) for name in REDUCTIONS),
    *((f"Reduce{name}", {"x": abs(X)}, 18, {}, 1, ORT) for name in REDUCTIONS),
    *((f"Reduce{name}", {"x": np.int32([[1, 2], [3, 4]])}, 18, {}, 1, ORT) for name in ("L1", "Prod", "SumSquare")),
    ("ReduceLogSumExp", {"x": np.float32([1000, 999])}, 18, {}, 1, ORT),
    ("ReduceMax", {"x": np.array([[True, False], [False, False]]), "axes": i64(1)}, 20, {}, 1, REF),
    *((name, {"x": X}, opset, {"axis": 1}, 1, ORT) for name in ("ArgMax", "ArgMin") for opset in (7, 13)),
    *(
        (name, {"x": np.int32([[2, 1, 2, 1]])}, 13, {"axis": -1, "keepdims": 0}, 1, ORT)
        for name in ("ArgMax", "ArgMin")
    ),
    ("ArgMax", {"x": TIED}, 12, {"axis": 1, "select_last_index": 1}, 1, ORT),
]


@pytest.mark.parametrize(("op_type", "inputs", "opset", "attributes", "outputs", "oracle"), CASES)
def test_operators(op_type: str, inputs: Any, opset: int, attributes: Any, outputs: int, oracle: str) -> None:
    check(op_type, inputs, opset, known=["axes"], outputs=outputs, oracle=oracle, tolerance=2e-6, **attributes)


HAND: list[tuple[str, np.ndarray, int, dict[str, Any], Any]] = [
    # numpy.argmax: the first NaN, the first of equals; ArgMax-12: the last.
    ("ArgMax", TIES, 13, {"axis": 1, "keepdims": 0}, i64(1, 0, 0)),
    ("ArgMax", TIES, 13, {"axis": 1, "keepdims": 0, "select_last_index": 1}, i64(2, 2, 2)),
    ("ArgMin", TIES, 13, {"axis": 1, "keepdims": 0}, i64(0, 0, 0)),
    # Lp-22: a norm of 0 gives 0.
    ("LpNormalization", np.float32([[0, 0], [3, 4]]), 22, {}, np.float32([[0, 0], [0.6, 0.8]])),
    # ReduceSumSquare-18: without axes to fold the other steps are still taken.
    ("ReduceSumSquare", np.float32([2, 3]), 18, {"noop_with_empty_axes": 1}, np.float32([4, 9])),
    ("ReduceLogSum", np.float32([1, np.e]), 18, {"noop_with_empty_axes": 1}, np.float32([0, 1])),
    # Sums over nothing.
    ("ReduceProd", np.zeros((2, 0), np.float32), 18, {}, np.float32([[1]])),
    ("ReduceLogSumExp", np.zeros((2, 0), np.float32), 18, {}, np.float32([[-np.inf]])),
    ("ReduceLogSumExp", np.float32([-np.inf, -np.inf]), 18, {}, np.float32([-np.inf])),
]


@pytest.mark.parametrize(("op_type", "x", "opset", "attributes", "want"), HAND)
def test_by_hand(op_type: str, x: np.ndarray, opset: int, attributes: Any, want: np.ndarray) -> None:
    known = [] if x.size else ["x"]  # as an input of the model, a size of 0 stands for an unknown one
    equal(run(node_model(op_type, {"x": x}, opset, known=known, **attributes), {"x": x}), {"y0": want})


@pytest.mark.parametrize(
    ("op_type", "inputs", "opset", "attributes", "text"),
    [
        ("InstanceNormalization", {"x": IMAGE, "s": f32(4), "b": f32(4)}, 7, {}, "one number per channel"),
        ("GroupNormalization", {"x": IMAGE, **CHANNELS}, 21, {"num_groups": 4}, "4 groups do not divide the channels"),
        ("GroupNormalization", {"x": IMAGE, **CHANNELS}, 18, {"num_groups": 2}, "must have 2 numbers"),
        ("LpNormalization", {"x": X}, 7, {"p": 3}, "p must be 1 or 2, but is 3"),
        ("BatchNormalization", {"x": X, **RUNNING}, 14, {"training_mode": 1}, "one number per channel"),
        ("ArgMax", {"x": f32(2, 0)}, 13, {"axis": 1}, "has no elements to choose from"),
        ("ArgMax", {"x": X}, 13, {"axis": 3}, "axis 3 is out of range"),
    ],
)
def test_errors(op_type: str, inputs: Any, opset: int, attributes: Any, text: str) -> None:
    with pytest.raises(ModelError, match=text):
        run(node_model(op_type, inputs, opset, known=["x"], **attributes), inputs)
