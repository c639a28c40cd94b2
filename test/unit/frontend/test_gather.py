"""Gathers, scatters, rearrangements and running totals. Oracle: the column of the table; "hand" gives the values."""

from typing import Any

import numpy as np
import pytest

from aiopt.support.errors import ModelError
from unit.frontend.single_node import check, equal, f32, i64, node_model, onnxruntime_run, run

X = f32(3, 4, 5)
ORT, REF = "onnxruntime", "onnx.reference"
TUPLES = np.array([[0, 1], [2, -1], [-3, 3]])
ELEMENTS = np.array([[[0, -1, 3, 1, 2]], [[1, 1, -4, 0, 0]]])
IMAGE = f32(2, 8, 4, 6)
RUN_TIME: tuple[str, ...] = ()

CASES: list[tuple[str, dict[str, Any], int, dict[str, Any], tuple[str, ...], str]] = [
    ("GatherElements", {"x": X, "i": ELEMENTS}, 11, {"axis": 1}, RUN_TIME, ORT),
    ("GatherElements", {"x": X, "i": ELEMENTS[:, :, :4].astype(np.int32)}, 13, {"axis": -2}, RUN_TIME, ORT),
    ("GatherElements", {"x": np.arange(6), "i": i64(5, -6)}, 13, {}, RUN_TIME, ORT),
    ("GatherND", {"x": X, "i": TUPLES}, 11, {}, RUN_TIME, ORT),
    ("GatherND", {"x": X, "i": np.array([[[1, 2, 3]], [[0, 0, -1]]])}, 13, {}, RUN_TIME, ORT),
    ("GatherND", {"x": X, "i": TUPLES[:, None, 1:]}, 12, {"batch_dims": 1}, RUN_TIME, ORT),
    ("ScatterElements", {"x": X, "i": ELEMENTS, "u": f32(2, 1, 5)}, 11, {"axis": 1}, RUN_TIME, ORT),
    *(
        (
            "ScatterElements",
            {"x": X, "i": i64(*[1] * 8).reshape(2, 2, 2), "u": f32(2, 2, 2)},
            18,
            {"reduction": how},
            (),
            ORT,
        )
        for how in ("none", "add", "mul", "max", "min")
    ),
    ("Scatter", {"x": X, "i": ELEMENTS, "u": f32(2, 1, 5)}, 9, {"axis": 1}, RUN_TIME, ORT),
    ("ScatterND", {"x": X, "i": TUPLES, "u": f32(3, 5)}, 11, {}, RUN_TIME, ORT),
    *(
        ("ScatterND", {"x": X, "i": np.array([[1], [1]]), "u": f32(2, 4, 5)}, 18, {"reduction": how}, RUN_TIME, ORT)
        for how in ("none", "add", "mul", "max", "min")
    ),
    ("TensorScatter", {"x": f32(2, 6, 3), "u": f32(2, 2, 3), "w": i64(1, 4)}, 24, {}, RUN_TIME, REF),
    ("TensorScatter", {"x": f32(2, 6, 3), "u": f32(2, 2, 3), "w": i64(5, 2)}, 24, {"mode": "circular"}, RUN_TIME, REF),
    ("TensorScatter", {"x": f32(2, 3, 6), "u": f32(2, 3, 2)}, 24, {"axis": 2}, RUN_TIME, REF),
    ("ReverseSequence", {"x": X, "n": i64(3, 1, 2, 0)}, 10, {}, RUN_TIME, REF),
    ("ReverseSequence", {"x": X, "n": i64(4, 1, 2)}, 10, {"batch_axis": 0, "time_axis": 1}, RUN_TIME, ORT),
    ("OneHot", {"i": i64(0, 2, -1, 7), "d": np.array(4), "v": f32(2)}, 11, {}, ("d",), ORT),
    ("OneHot", {"i": np.float32([[0, 2]]), "d": np.array(3, np.float32), "v": i64(5, 7)}, 9, {"axis": 0}, ("d",), REF),
    ("DepthToSpace", {"x": IMAGE}, 7, {"blocksize": 2}, RUN_TIME, ORT),
    ("DepthToSpace", {"x": IMAGE}, 11, {"blocksize": 2, "mode": "CRD"}, RUN_TIME, ORT),
    ("SpaceToDepth", {"x": IMAGE}, 7, {"blocksize": 2}, RUN_TIME, ORT),
    ("SpaceToDepth", {"x": IMAGE}, 28, {"blocksize": 2, "mode": "CRD"}, RUN_TIME, REF),
    ("Tile", {"x": X, "r": i64(2, 1, 3)}, 7, {}, ("r",), ORT),
    ("Tile", {"x": X, "r": i64(2, 0, 3)}, 13, {}, ("r",), ORT),
    *(
        ("Trilu", {"x": X, "k": np.array(k)}, 14, {"upper": up}, ("k",), ORT)
        for k in (-1, 0, 2, -(2**63), 2**63 - 1)
        for up in (0, 1)
    ),
    *(("EyeLike", {"x": f32(3, 5)}, 9, {"k": k, "dtype": 7}, RUN_TIME, REF) for k in (-4, 5)),
    *(("EyeLike", {"x": f32(3, 5)}, 9, {"k": k}, RUN_TIME, ORT) for k in (-(2**63), 2**63 - 1)),
    ("EyeLike", {"x": f32(3, 5)}, 9, {"k": 1, "dtype": 7}, RUN_TIME, ORT),
    ("EyeLike", {"x": f32(3, 5)}, 9, {"k": -1}, RUN_TIME, ORT),
    *(("Pad", {"x": X}, 7, {"pads": [0, 1, 2, 1, 0, 3], "mode": mode}, (), ORT) for mode in ("constant", "edge")),
    ("Pad", {"x": X}, 7, {"pads": [1, 0, 0, 0, 0, 0], "value": 1.5}, RUN_TIME, ORT),
    ("Pad", {"x": X, "p": i64(0, 1, -2, 1, 0, 3), "v": np.array(2.5, np.float32)}, 11, {}, ("p",), ORT),
    ("Pad", {"x": X, "p": i64(0, 1, 2, 1, 3, 3)}, 13, {"mode": "reflect"}, ("p",), ORT),
    ("Pad", {"x": X, "p": i64(0, -1, 2, 1, 2, 3)}, 19, {"mode": "wrap"}, ("p",), ORT),
    ("CenterCropPad", {"x": X, "s": i64(2, 7, 5)}, 18, {}, ("s",), REF),
    ("CenterCropPad", {"x": X, "s": i64(6, 1)}, 18, {"axes": [-1, 0]}, ("s",), REF),
    ("CumSum", {"x": X, "a": np.array(1)}, 11, {}, ("a",), ORT),
    *(
        ("CumSum", {"x": x, "a": np.array(-1)}, 14, {"exclusive": exclusive, "reverse": reverse}, ("a",), ORT)
        for x in (X, np.arange(12).reshape(3, 4))
        for exclusive in (0, 1)
        for reverse in (0, 1)
    ),
    ("CumProd", {"x": X, "a": np.array(0)}, 26, {"exclusive": 1, "reverse": 1}, ("a",), REF),
    ("Upsample", {"x": IMAGE}, 7, {"scales": [1.0, 1.0, 2.0, 3.0]}, RUN_TIME, ORT),
    ("Upsample", {"x": IMAGE, "s": np.float32([1, 1, 2, 1.5])}, 9, {"mode": "linear"}, ("s",), ORT),
]


OUTSIDE = i64(3, -4, 9, -9, 2**62, -(2**63))
READS = [
    ("Gather", {"x": f32(3, 2), "i": OUTSIDE}, {}),
    ("Gather", {"x": f32(2, 3), "i": OUTSIDE}, {"axis": 1}),
    ("GatherElements", {"x": f32(3, 6), "i": np.stack([OUTSIDE] * 2)}, {}),
    ("GatherElements", {"x": f32(2, 3), "i": np.stack([OUTSIDE] * 2)}, {"axis": 1}),
    ("GatherND", {"x": f32(3, 2), "i": OUTSIDE[:, None]}, {}),
    ("GatherND", {"x": f32(3, 3), "i": np.stack([OUTSIDE, OUTSIDE[::-1]], -1)}, {}),
    ("GatherND", {"x": f32(2, 3), "i": np.stack([OUTSIDE] * 2)[..., None]}, {"batch_dims": 1}),
]
WRITES = [
    ("ScatterElements", {"x": f32(3), "i": OUTSIDE, "u": f32(6)}, {}),
    ("ScatterElements", {"x": f32(2, 3), "i": np.stack([OUTSIDE] * 2), "u": f32(2, 6)}, {"axis": 1}),
    ("ScatterND", {"x": f32(3, 2), "i": OUTSIDE[:, None], "u": f32(6, 2)}, {"reduction": "add"}),
    ("ScatterND", {"x": f32(3, 3), "i": np.stack([OUTSIDE, OUTSIDE * 0], -1), "u": f32(6)}, {}),
]


@pytest.mark.parametrize(("op_type", "inputs", "attributes"), READS)
def test_a_read_outside_takes_the_nearest_element(
    op_type: str, inputs: dict[str, np.ndarray], attributes: dict[str, Any]
) -> None:
    """Oracle: ONNX Runtime with the nearest indices; it makes the given ones an error, which compiled code has not."""
    inside = {**inputs, "i": np.clip(inputs["i"], -3, 2)}
    want = onnxruntime_run(node_model(op_type, inside, 18, **attributes), inside)
    equal(run(node_model(op_type, inputs, 18, **attributes), inputs), want)


@pytest.mark.parametrize(("op_type", "inputs", "attributes"), WRITES)
def test_a_write_outside_is_left_out(op_type: str, inputs: dict[str, np.ndarray], attributes: dict[str, Any]) -> None:
    (have,) = run(node_model(op_type, inputs, 18, **attributes), inputs).values()
    np.testing.assert_array_equal(have, inputs["x"])


@pytest.mark.parametrize(("op_type", "inputs", "opset", "attributes", "known", "oracle"), CASES)
def test_operators(op_type: str, inputs: Any, opset: int, attributes: Any, known: Any, oracle: str) -> None:
    check(op_type, inputs, opset, known=known, oracle=oracle, **attributes)


HAND: list[tuple[str, dict[str, Any], int, dict[str, Any], Any]] = [
    # An update outside changes nothing, in whatever dimension the index lies outside.
    ("ScatterElements", {"x": f32(2, 2), "i": np.array([[0, 2]]), "u": np.float32([[7, 8]])}, 18, {"axis": 1}, None),
    ("ScatterND", {"x": f32(2, 2), "i": np.array([[0, 5], [-9, 1]]), "u": np.float32([7, 8])}, 18, {}, None),
    # Pad-25: the reflection goes back and forth.
    (
        "Pad",
        {"x": np.float32([1, 2, 3]), "p": i64(5, 4)},
        25,
        {"mode": "reflect"},
        [2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3],
    ),
    # OneHot-9 does not count from the end.
    ("OneHot", {"i": i64(-1, 1), "d": np.array(2), "v": i64(0, 1)}, 9, {}, [[0, 0], [0, 1]]),
]


@pytest.mark.parametrize(("op_type", "inputs", "opset", "attributes", "want"), HAND)
def test_by_hand(op_type: str, inputs: Any, opset: int, attributes: Any, want: Any) -> None:
    have = run(node_model(op_type, inputs, opset, known=[n for n in ("p", "d") if n in inputs], **attributes), inputs)
    expected = inputs["x"].copy() if want is None else np.array(want, have["y0"].dtype)
    if want is None and op_type == "ScatterElements":
        expected[0, 0] = 7
    equal(have, {"y0": expected})


@pytest.mark.parametrize(
    ("op_type", "inputs", "opset", "attributes", "text"),
    [
        ("GatherElements", {"x": X, "i": np.zeros((4, 4, 5), np.int64)}, 13, {"axis": 1}, "do not lie within"),
        ("GatherND", {"x": X, "i": np.zeros((2, 4), np.int64)}, 13, {}, "name 4 dimensions, but x has 3"),
        ("GatherND", {"x": X, "i": TUPLES}, 13, {"batch_dims": 3}, "batch_dims=3 does not fit"),
        ("GatherND", {"x": X, "i": np.array([[3]])}, 13, {}, "index is out of range: the dimension has 3 elements"),
        ("ScatterND", {"x": X, "i": TUPLES, "u": f32(3, 4)}, 18, {}, r"updates \[3, 4\] must be \[3, 5\]"),
        ("ScatterND", {"x": X, "i": TUPLES, "u": f32(3, 5)}, 18, {"reduction": "avg"}, "not 'avg'"),
        ("ScatterElements", {"x": X, "i": ELEMENTS, "u": X}, 18, {"axis": 1}, "must have one shape"),
        ("TensorScatter", {"x": X, "u": X}, 24, {"mode": "ring"}, "mode must be linear or circular, not 'ring'"),
        ("TensorScatter", {"x": X, "u": f32(3, 4, 4)}, 24, {}, "must differ in axis 1 alone"),
        ("ReverseSequence", {"x": X, "n": i64(1, 1)}, 10, {}, "must be 0 and 1 of a tensor"),
        ("DepthToSpace", {"x": IMAGE}, 11, {"blocksize": 3}, "blocksize 3 does not fit the 8 channels"),
        ("SpaceToDepth", {"x": IMAGE}, 11, {"blocksize": 4}, r"blocksize 4 does not fit the input \[2, 8, 4, 6\]"),
        ("DepthToSpace", {"x": IMAGE}, 11, {"blocksize": 2, "mode": "ABC"}, "mode must be DCR or CRD, not 'ABC'"),
        ("Tile", {"x": X, "r": i64(1, 2)}, 13, {}, "repeats must be 3 numbers"),
        ("Trilu", {"x": f32(3)}, 14, {}, "the input must be matrices"),
        ("Pad", {"x": X, "p": i64(-2, 0, 0, -2, 0, 0)}, 13, {}, "cut more than the input"),
        ("Pad", {"x": X, "p": i64(0, 0)}, 13, {}, "with 2 pads for 3 axes"),
        ("Pad", {"x": X, "p": i64(*[0] * 6)}, 13, {"mode": "wrap"}, "mode 'wrap'"),
        ("CumSum", {"x": X, "a": np.array(3)}, 14, {}, "axis 3 is out of range"),
        ("OneHot", {"i": i64(1), "d": np.array(0), "v": f32(2)}, 11, {}, "depth must be one number above 0"),
        ("Upsample", {"x": IMAGE}, 7, {"scales": [1.0, 1.0, 0.5, 1.0]}, "scales must be 4 numbers of 1 or more"),
    ],
)
def test_errors(op_type: str, inputs: Any, opset: int, attributes: Any, text: str) -> None:
    known = [name for name in inputs if name in ("p", "r", "a", "d", "i")]
    with pytest.raises(ModelError, match=text):
        run(node_model(op_type, inputs, opset, known=known, **attributes), inputs)
