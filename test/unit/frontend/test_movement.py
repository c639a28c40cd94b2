"""Joins, parts and orders. Oracle: ONNX Runtime, unless a test names another."""

from typing import Any

import numpy as np
import pytest

from aiopt.dialects.ai import ConcatOp
from aiopt.dialects.ext import operations
from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import check, f32, i64, imported, node_model, run

X = f32(2, 3, 4)


@pytest.mark.parametrize("attributes", [{}, {"perm": [0, 2, 1]}, {"perm": [0, 1, 2]}])
def test_transpose(attributes: dict[str, Any]) -> None:
    check("Transpose", {"x": X}, 13, **attributes)


@pytest.mark.parametrize("perm", [[0, 1], [0, 0, 1], [0, 1, 3]])
def test_transpose_errors(perm: list[int]) -> None:
    with pytest.raises(ModelError, match="permutation"):
        run(node_model("Transpose", {"x": X}, 13, perm=perm), {})


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("count", [1, 2, 8, 9, 20])
def test_concat(axis: int, count: int) -> None:
    check("Concat", {f"x{i}": f32(2, 3, seed=i) for i in range(count)}, 11, axis=axis)


def test_concat_of_many_is_a_tree() -> None:
    module, _ = imported(node_model("Concat", {f"x{i}": f32(2, seed=i) for i in range(20)}, 13, axis=0))
    assert sum(isinstance(op, ConcatOp) for op in operations(module)) == 4


def test_concat_errors() -> None:
    with pytest.raises(ModelError, match="attribute 'axis' is missing"):
        run(node_model("Concat", {"a": X, "b": X}, 13), {})
    with pytest.raises(ModelError, match="differ in more than axis 0"):
        run(node_model("Concat", {"a": f32(2, 3), "b": f32(2, 4)}, 13, axis=0), {})
    with pytest.raises(ModelError, match="input 0 is missing"):
        run(node_model("Concat", {}, 13, axis=0), {})


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (5, 2, 3, 4), (4,), (1,), ()])
@pytest.mark.parametrize("opset", [8, 13])
def test_expand_broadcasts_both_ways(shape: tuple[int, ...], opset: int) -> None:
    check("Expand", {"x": f32(3, 1), "shape": i64(*shape)}, opset, known=["shape"])


def test_expand_errors() -> None:
    with pytest.raises(ModelError, match="broadcast"):
        run(node_model("Expand", {"x": X, "shape": i64(5)}, 13, known=["shape"]), {})
    with pytest.raises(ModelError, match="negative sizes"):
        run(node_model("Expand", {"x": X, "shape": i64(-1)}, 13, known=["shape"]), {})
    with pytest.raises(UnsupportedError, match="bytes; at most"):
        run(node_model("Expand", {"x": X, "shape": i64(1 << 40, 1, 1, 1)}, 13, known=["shape", "x"]), {})


SLICES: list[tuple[list[int], list[int], list[int] | None, list[int] | None]] = [
    ([1], [3], None, None),
    ([0, 1], [2, 9], [2, 1], None),
    ([-3], [-1], [2], None),
    ([-100], [100], [-1], None),
    ([3], [1], [2], None),
    ([0], [4], [2], [2]),
    ([3], [0], [2], [-1]),
    ([-1], [-(2**63)], [2], [-2]),
    ([100], [-100], [1], [-1]),
]


@pytest.mark.parametrize(("starts", "ends", "axes", "steps"), SLICES)
@pytest.mark.parametrize("opset", [10, 13])
def test_slice_by_inputs(
    starts: list[int], ends: list[int], axes: list[int] | None, steps: list[int] | None, opset: int
) -> None:
    if steps and not axes:
        axes = list(range(len(starts)))
    parts = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
    arrays = [(name, None if part is None else np.array(part, np.int64)) for name, part in parts.items()]
    check("Slice", [("x", X), *arrays], opset, known=list(parts))


@pytest.mark.parametrize(("starts", "ends", "axes"), [case[:3] for case in SLICES if case[3] is None])
def test_slice_by_attributes(starts: list[int], ends: list[int], axes: list[int] | None) -> None:
    check("Slice", {"x": X}, 9, starts=starts, ends=ends, **({} if axes is None else {"axes": axes}))


def test_slice_backwards_from_before_the_first_element() -> None:
    # By hand from the text of Slice-13: start clamps to 0 and end to -1, which leaves the first element.
    inputs = {"x": X, "starts": i64(-100), "ends": i64(-100), "axes": i64(2), "steps": i64(-1)}
    (have,) = run(node_model("Slice", inputs, 13, known=["starts", "ends", "axes", "steps"]), inputs).values()
    np.testing.assert_array_equal(have, X[:, :, :1])


def test_slice_errors() -> None:
    def sliced(**parts: np.ndarray) -> None:
        run(node_model("Slice", {"x": X, **parts}, 13, known=list(parts)), {"x": X})

    with pytest.raises(ModelError, match="a step of 0"):
        sliced(starts=i64(0), ends=i64(1), axes=i64(0), steps=i64(0))
    with pytest.raises(ModelError, match="one number per sliced axis"):
        sliced(starts=i64(0), ends=i64(1, 2))
    with pytest.raises(ModelError, match="axis 7 is out of range"):
        sliced(starts=i64(0), ends=i64(1), axes=i64(7))
    with pytest.raises(ModelError, match="name one axis twice"):
        sliced(starts=i64(0, 0), ends=i64(1, 1), axes=i64(0, -3))
    with pytest.raises(UnsupportedError, match=r"input 1 \(starts, 'starts'\) depends on the data"):
        run(node_model("Slice", {"x": X, "starts": i64(0), "ends": i64(1)}, 13), {})


def test_split_by_attribute() -> None:
    check("Split", {"x": X}, 11, outputs=2, axis=2)
    check("Split", {"x": X}, 12, outputs=2, axis=-1, split=[1, 3])


def test_split_by_input() -> None:
    check("Split", {"x": X}, 13, outputs=3, axis=1)
    check("Split", {"x": X, "split": i64(3, 1)}, 13, known=["split"], outputs=2, axis=2)


def test_split_into_uneven_parts() -> None:
    check("Split", {"x": f32(7)}, 18, outputs=3, num_outputs=3)
    check("Split", {"x": f32(7), "split": i64(5, 2)}, 18, known=["split"], outputs=2)


def test_split_errors() -> None:
    with pytest.raises(ModelError, match="3 elements along axis 1 cannot be split into 2 equal parts"):
        run(node_model("Split", {"x": X}, 13, outputs=2, axis=1), {})
    with pytest.raises(ModelError, match=r"split \[1, 1\] does not give 2 outputs that add up to 4"):
        run(node_model("Split", {"x": X}, 11, outputs=2, axis=2, split=[1, 1]), {})
    with pytest.raises(ModelError, match="num_outputs is 5, but the node has 2 outputs"):
        run(node_model("Split", {"x": X}, 18, outputs=2, axis=2, num_outputs=5), {})


@pytest.mark.parametrize("indices", [1, -1, [0, 1, 2], [[1, 2]], [2, 1], [0, 2]])
@pytest.mark.parametrize("axis", [1, 2, -1])
@pytest.mark.parametrize("opset", [11, 13])
def test_gather_of_evenly_stepping_indices(indices: Any, axis: int, opset: int) -> None:
    check("Gather", {"x": X, "i": np.array(indices, np.int64)}, opset, known=["i"], axis=axis)


def test_gather_of_known_data_takes_any_indices() -> None:
    inputs = {"x": X, "i": i64(0, 2, 1, 1)}
    (have,) = run(node_model("Gather", inputs, 13, known=["x", "i"], axis=1), inputs).values()
    np.testing.assert_array_equal(have, X[:, [0, 2, 1, 1]])


@pytest.mark.parametrize("opset", [7, 11, 13])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_of_any_indices(axis: int, opset: int) -> None:
    """Negative ones came with opset 11."""
    indices = np.array([[1, 0, 1], [0, 0, 1 if opset < 11 else -1]])
    check("Gather", {"x": X, "i": indices}, opset, known=["i"], axis=axis)
    check("Gather", {"x": X, "i": indices.astype(np.int32)}, opset, axis=axis)
    check("Gather", {"x": X, "i": np.array(1)}, opset, axis=axis)
    check("Gather", {"x": X, "i": indices}, opset, known=["x"], axis=axis)


def test_gather_errors() -> None:
    with pytest.raises(ModelError, match="elements of type f32; the operator takes int32, int64"):
        run(node_model("Gather", {"x": X, "i": f32(2)}, 13), {})
    with pytest.raises(ModelError, match="an index is out of range: axis 0 has 2 elements"):
        run(node_model("Gather", {"x": X, "i": i64(2)}, 13, known=["i"]), {})
