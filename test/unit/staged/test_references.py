"""What the host runs without the onnx package's reference. Oracle: ONNX Runtime, unless a test names another."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import aiopt
from aiopt.staged import references
from aiopt.support.errors import ModelError
from aiopt.support.types import TensorType
from unit.frontend.single_node import equal, f32, i64, node_model, onnxruntime_run


def _run(op_type: str, inputs: dict[str, np.ndarray], opset: int, **attributes: Any) -> dict[str, np.ndarray]:
    return aiopt.compile(node_model(op_type, inputs, opset, **attributes), cache=False).run(inputs)


def _boxes(seed: int) -> np.ndarray:
    """Two images, seven boxes each; corners in any order, one box without an area."""
    boxes = np.random.default_rng(seed).uniform(0, 3, (2, 7, 4)).astype(np.float32)
    boxes[0, 3, 2:] = boxes[0, 3, :2]
    return boxes


SCORES = np.round(np.random.default_rng(2).uniform(0, 1, (2, 3, 7)), 1).astype(np.float32)  # some are equal
LIMITS = [i64(3), np.float32([0.2]), np.float32([0.3])]


@pytest.mark.parametrize("opset", [10, 11])
@pytest.mark.parametrize("given", range(4))
@pytest.mark.parametrize("centred", [0, 1])
def test_non_max_suppression_with_inputs_left_out(opset: int, given: int, centred: int) -> None:
    limits = dict(zip("mot", LIMITS[:given], strict=False))
    inputs = {"boxes": _boxes(0), "scores": SCORES, **limits}
    model = node_model("NonMaxSuppression", inputs, opset, center_point_box=centred)
    have = _run("NonMaxSuppression", inputs, opset, center_point_box=centred)
    equal(have, onnxruntime_run(model, inputs))
    assert (len(have["y0"]) > 0) == (given > 0)


@pytest.mark.parametrize("left_out", ["m", "o", "t"])
def test_non_max_suppression_with_one_input_left_out(left_out: str) -> None:
    limits = [(name, None if name == left_out else array) for name, array in zip("mot", LIMITS, strict=True)]
    operands = [("boxes", _boxes(1)), ("scores", SCORES), *limits]
    model = node_model("NonMaxSuppression", operands, 11)
    inputs = {name: array for name, array in operands if array is not None}
    equal(aiopt.compile(model, cache=False).run(inputs), onnxruntime_run(model, inputs))


def test_boxes_that_do_not_fit_the_scores() -> None:
    inputs = {"boxes": _boxes(0), "scores": SCORES[:, :, :6], "m": i64(3)}
    with pytest.raises(ModelError, match=r"boxes \[2, 7, 4\] and scores \[2, 3, 6\] must be"):
        _run("NonMaxSuppression", inputs, 11)


SMALL = ("int2", "uint2", "int4", "uint4", "float4_e2m1fn", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")


@pytest.mark.parametrize("target", SMALL)
@pytest.mark.parametrize("source", SMALL)
def test_cast_from_a_small_type_to_another(source: str, target: str) -> None:
    """Oracle: the cast of the same numbers from a type of 32 bits, by onnx.reference."""
    whole = "int" in source
    numbers = np.int32([0, 1, 2, 3, -1, -2, 7, 15, -8]) if whole else np.float32([0.5, 1, 2, 4, 0.25, 6])
    x = numbers.astype(getattr(ml_dtypes, source))
    to = helper.np_dtype_to_tensor_dtype(np.dtype(getattr(ml_dtypes, target)))
    (have,) = _run("Cast", {"x": x}, 25, to=to).values()
    wide = x.astype(numbers.dtype)
    (want,) = _run("Cast", {"x": wide}, 25, to=to).values()
    assert have.dtype == want.dtype == np.dtype(getattr(ml_dtypes, target))
    np.testing.assert_array_equal(have.astype(np.float32), want.astype(np.float32))


def test_integers_of_fewer_bits_keep_the_low_ones() -> None:
    x = np.int32([-1, -8, 7, 5]).astype(ml_dtypes.int4)
    for target, want in (("uint4", [15, 8, 7, 5]), ("int2", [-1, 0, -1, 1]), ("uint2", [3, 0, 3, 1])):
        dtype = np.dtype(getattr(ml_dtypes, target))
        (have,) = _run("Cast", {"x": x}, 25, to=helper.np_dtype_to_tensor_dtype(dtype)).values()
        assert have.astype(np.int32).tolist() == want  # by hand


@pytest.mark.parametrize("target", ["i8", "ui8", "i16", "i64", "f16", "i1"])
def test_a_small_float_becomes_an_integer_as_a_large_one_does(target: str) -> None:
    x = np.float32([448, -300, 240, 0.4, -0.0, np.nan]).astype(ml_dtypes.float8_e4m3fn)
    to = helper.np_dtype_to_tensor_dtype(TensorType((), target).dtype)
    have, want = (_run("Cast", {"x": given}, 25, to=to)["y0"] for given in (x, x.astype(np.float32)))
    np.testing.assert_array_equal(have, want, strict=True)


@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align_without_a_shift_before_opset_16(mode: str) -> None:
    inputs = {"x": f32(2, 3, 8, 9), "rois": np.float32([[0, 0, 4, 5], [1, 1.5, 9, 8]]), "images": i64(0, 1)}
    names = {"output_height": 3, "output_width": 2, "mode": mode}  # sampling_ratio=0 is not compiled
    model = node_model("RoiAlign", inputs, 10, **names)
    net = aiopt.compile(model, cache=False)
    assert [step["op"] for step in net.report()["slow_route"]] == ["RoiAlign"]
    equal(net.run(inputs), onnxruntime_run(model, inputs))


@pytest.mark.parametrize("dtype", [TensorProto.INT32, TensorProto.INT64])
def test_multinomial(dtype: int) -> None:
    """Oracle: the probabilities; the numbers drawn are nobody's."""
    chances = np.float32([[0.7, 0.2, 0.1, 0], [0, 0, 0.5, 0.5]])
    with np.errstate(divide="ignore"):
        inputs = {"x": np.log(chances) + 3}
    draw = {"sample_size": 20000, "seed": 1.5, "dtype": dtype}
    (have,) = _run("Multinomial", inputs, 7, **draw).values()
    assert (have.dtype, have.shape) == (helper.tensor_dtype_to_np_dtype(dtype), (2, 20000))
    counts = np.stack([np.bincount(row, minlength=4) for row in have]) / 20000
    np.testing.assert_allclose(counts, chances, atol=0.02)
    np.testing.assert_array_equal(have, _run("Multinomial", inputs, 7, **draw)["y0"])
    del draw["seed"]
    net = aiopt.compile(node_model("Multinomial", inputs, 7, **draw), cache=False)
    assert (net.run(inputs)["y0"] != net.run(inputs)["y0"]).any()


def test_other_domains_have_operators_of_their_own() -> None:
    assert references.find("Cast") is not None
    assert references.find("Cast", "my.domain") is None
    assert references.needs_reference("Multinomial", "my.domain")
    assert not references.needs_reference("Multinomial")
    node = onnx.helper.make_node("RoiAlign", ["x", "r", "i"], ["y"], domain="my.domain")
    step = references.Step(node, {"my.domain": 1})
    assert references.spelt(step) == (node, 1)
