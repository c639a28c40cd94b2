"""Constants, shapes as data, and changes of shape. Oracle: ONNX Runtime, unless a test names another."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from aiopt.dialects.ext import operations
from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import check, f32, i64, imported, node_model, run

X = f32(2, 3, 4)


@pytest.mark.parametrize(
    ("attributes", "want"),
    [
        ({"value": numpy_helper.from_array(X)}, X),
        ({"value_float": 2.5}, np.array(2.5, np.float32)),
        ({"value_floats": [1.0, 2.0]}, np.array([1, 2], np.float32)),
        ({"value_int": 3}, np.array(3)),
        ({"value_ints": [3, 4]}, i64(3, 4)),
    ],
)
def test_constant(attributes: dict[str, Any], want: np.ndarray) -> None:
    (have,) = run(node_model("Constant", {}, 13, **attributes), {}).values()  # by hand
    np.testing.assert_array_equal(have, want)
    assert have.dtype == want.dtype


def test_constant_errors() -> None:
    with pytest.raises(ModelError, match="exactly one value must be given, but there are 0"):
        run(node_model("Constant", {}, 13), {})
    with pytest.raises(UnsupportedError, match="attribute 'value_string': aiopt has no strings"):
        run(node_model("Constant", {}, 13, value_string="a"), {})
    broken = helper.make_tensor("t", 1, [2], [1.0, 2.0])
    broken.dims[0] = 3
    with pytest.raises(ModelError, match=r"the values of attribute 'value' do not fit its type and shape \[3\]"):
        run(node_model("Constant", {}, 13, value=broken), {})


@pytest.mark.parametrize("value", [None, np.array([7], np.int64), np.array([0.5], np.float16)])
def test_constant_of_shape(value: np.ndarray | None) -> None:
    attributes = {} if value is None else {"value": numpy_helper.from_array(value)}
    for shape in (i64(2, 3), i64()):
        check("ConstantOfShape", {"shape": shape}, 9, known=["shape"], **attributes)


def test_constant_of_shape_errors() -> None:
    with pytest.raises(ModelError, match=r"the shape \[-1\] has negative sizes"):
        run(node_model("ConstantOfShape", {"s": i64(-1)}, 9, known=["s"]), {})
    with pytest.raises(UnsupportedError, match="takes 4398046511104000000 bytes; at most 1073741824"):
        run(node_model("ConstantOfShape", {"s": i64(1 << 40, 1000000)}, 9, known=["s"]), {})
    with pytest.raises(ModelError, match=r"attribute 'value' must have one element, but has shape \[2\]"):
        run(node_model("ConstantOfShape", {"s": i64(2)}, 9, known=["s"], value=numpy_helper.from_array(f32(2))), {})


def test_shape_is_known() -> None:
    check("Shape", {"x": X}, 13)
    module, _ = imported(node_model("Shape", {"x": X}, 13))
    assert [op.operation.name for op in operations(module)] == ["func.func", "ai.constant", "func.return"]


@pytest.mark.parametrize("attributes", [{}, {"start": 1}, {"start": -2, "end": -1}, {"end": 9}, {"start": 2, "end": 1}])
def test_part_of_shape(attributes: dict[str, int]) -> None:
    check("Shape", {"x": X}, 15, **attributes)


@pytest.mark.parametrize("shape", [(6, 4), (0, -1), (-1,), (0, 0, 2, 2), (24,)])
@pytest.mark.parametrize("opset", [7, 13, 14])
def test_reshape(shape: tuple[int, ...], opset: int) -> None:
    check("Reshape", {"x": X, "shape": i64(*shape)}, opset, known=["shape"])


def test_reshape_of_scalar_and_nothing() -> None:
    check("Reshape", {"x": f32(1), "shape": i64()}, 13, known=["shape"])
    # By hand; of no elements, so it must be known: no input has a size of 0.
    inputs = {"x": f32(0, 3), "shape": i64(3, 0)}
    (have,) = run(node_model("Reshape", inputs, 14, known=list(inputs), allowzero=1), inputs).values()
    assert have.shape == (3, 0)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((5,), r"shape \[2, 3, 4\] cannot be reshaped to \[5\]"),
        ((-1, -1), "cannot be reshaped"),
        ((-2, 12), "cannot be reshaped"),
        ((-1, 7), "cannot be reshaped"),
        ((1, 1, 1, 0), "copies a dimension that the input"),
    ],
)
def test_reshape_errors(shape: tuple[int, ...], text: str) -> None:
    with pytest.raises(ModelError, match=rf"^node 'the_node' \(Reshape, opset 13.*\): .*{text}"):
        run(node_model("Reshape", {"x": X, "shape": i64(*shape)}, 13, known=["shape"]), {})


def test_a_shape_made_at_run_time_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"input 1 \(shape, 's'\) depends on the data of a run"):
        run(node_model("Reshape", {"x": X, "s": i64(24)}, 13), {})


@pytest.mark.parametrize("axis", [None, 0, 1, 2, 3])
def test_flatten(axis: int | None) -> None:
    check("Flatten", {"x": X}, 9, **({} if axis is None else {"axis": axis}))


def test_flatten_negative() -> None:
    check("Flatten", {"x": X}, 11, axis=-1)
    with pytest.raises(ModelError, match="axis 4 is out of range"):
        run(node_model("Flatten", {"x": X}, 11, axis=4), {})


@pytest.mark.parametrize("axes", [None, [0], [0, 2], [-2]])
def test_squeeze_and_its_opsets(axes: list[int] | None) -> None:
    x = f32(1, 3, 1, 4)
    check("Squeeze", {"x": x}, 11, **({} if axes is None else {"axes": axes}))
    check("Squeeze", [("x", x), ("axes", None if axes is None else i64(*axes))], 13, known=["axes"])


@pytest.mark.parametrize("axes", [[0], [3], [2, 0], [-1], [1, -1]])
def test_unsqueeze_and_its_opsets(axes: list[int]) -> None:
    check("Unsqueeze", {"x": X}, 11, axes=axes)
    check("Unsqueeze", {"x": X, "axes": i64(*axes)}, 13, known=["axes"])


def test_squeeze_and_unsqueeze_errors() -> None:
    with pytest.raises(ModelError, match=r"axes \[1\] of shape \[2, 3, 4\] are not all of size 1"):
        run(node_model("Squeeze", {"x": X}, 11, axes=[1]), {})
    with pytest.raises(ModelError, match="axis 5 is out of range for a tensor of rank 4"):
        run(node_model("Unsqueeze", {"x": X}, 11, axes=[5]), {})
    with pytest.raises(ModelError, match="attribute 'axes' is missing"):
        run(node_model("Unsqueeze", {"x": X}, 11), {})


RANGES: list[tuple[Any, Any, Any]] = [
    (np.int64(3), np.int64(9), np.int64(3)),
    (np.int64(10), np.int64(4), np.int64(-2)),
    (np.int64(5), np.int64(5), np.int64(1)),
    (np.int64(5), np.int64(1), np.int64(1)),
    (np.int32(-7), np.int32(8), np.int32(4)),
    (np.float32(0.5), np.float32(2.0), np.float32(0.3)),
    (np.float64(1), np.float64(-1), np.float64(-0.25)),
]


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("bounds", RANGES)
def test_range(bounds: tuple[Any, Any, Any], opset: int) -> None:
    inputs = dict(zip(("start", "limit", "delta"), map(np.array, bounds), strict=True))
    check("Range", inputs, opset, known=list(inputs))


def test_range_of_f16_is_computed_in_f32() -> None:
    """Opset 27, by hand: 2049 steps of 1 would stick at 2048 if they were added in f16."""
    inputs = {name: np.array(value, np.float16) for name, value in (("a", 2040), ("b", 2056), ("c", 1))}
    (have,) = run(node_model("Range", inputs, 27, known=["a", "b", "c"], stash_type=1), {}).values()
    np.testing.assert_array_equal(have, np.arange(2040, 2056, dtype=np.float32).astype(np.float16))


def test_range_errors() -> None:
    def bounds(**arrays: Any) -> onnx.ModelProto:
        inputs = {"a": i64(0).reshape(()), "b": i64(3).reshape(()), "c": i64(1).reshape(()), **arrays}
        return node_model("Range", inputs, 13, known=["a", "b", "c"])

    for arrays, text in (
        ({"c": np.array(0)}, "no range goes from 0 to 3 by 0"),
        ({"b": np.array(3, np.int32)}, "must have those of input 0: i64"),
        ({"b": i64(1, 2)}, "scalars of one type"),
    ):
        with pytest.raises(ModelError, match=text):
            run(bounds(**arrays), {})
    with pytest.raises(UnsupportedError, match="bytes; at most"):
        run(bounds(b=np.array(1 << 60)), {})
    with pytest.raises(UnsupportedError, match=r"input 0 \(start, 'a'\) depends on the data"):
        run(node_model("Range", {name: i64(1).reshape(()) for name in "abc"}, 13), {})
    scalars = {name: np.array(1, np.float16) for name in "abc"}
    with pytest.raises(UnsupportedError, match="stash_type=10"):
        run(node_model("Range", scalars, 27, known=list(scalars), stash_type=10), {})
